-- The meta tags of the pages of doc_crawl_page, in the order of the page, at most 256 each; on webcrawl, SQLite.
CREATE VIEW crawl_page_meta AS
SELECT h.doc_crawl_page_id * 256 + m.key AS crawl_page_meta_id,
       h.doc_crawl_page_id,
       json_extract(m.value, '$[0]') AS name_str,
       json_extract(m.value, '$[1]') AS content_str,
       CAST(0 AS smallint) AS deleted_fl,
       CAST(0 AS smallint) AS dirty_fl,
       v.found_at AS create_dt,
       v.found_at AS update_dt,
       'crawler' AS update_nm,
       v.id AS ts
  FROM page_head h
  JOIN page_version v ON v.id = h.version_id
 CROSS JOIN json_each(v.metas) m
 WHERE m.key < 256
