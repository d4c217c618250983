-- The meta tags of the pages of doc_crawl_page, in the order of the page, at most 256 each; on webcrawl, PostgreSQL.
CREATE VIEW crawl_page_meta AS
SELECT h.doc_crawl_page_id * 256 + (m.place - 1) AS crawl_page_meta_id,
       h.doc_crawl_page_id,
       m.pair ->> 0 AS name_str,
       m.pair ->> 1 AS content_str,
       CAST(0 AS smallint) AS deleted_fl,
       CAST(0 AS smallint) AS dirty_fl,
       v.found_at AS create_dt,
       v.found_at AS update_dt,
       'crawler' AS update_nm,
       v.id AS ts
  FROM page_head h
  JOIN page_version v ON v.id = h.version_id
 CROSS JOIN LATERAL jsonb_array_elements(CAST(v.metas AS jsonb)) WITH ORDINALITY AS m(pair, place)
 WHERE (m.place - 1) < 256
