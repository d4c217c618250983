-- The meta tags of the pages of doc_crawl_page, in the order of the page, at most 256 each; on webcrawl, SQL Server.
CREATE VIEW crawl_page_meta AS
SELECT h.doc_crawl_page_id * 256 + CAST(m.[key] AS bigint) AS crawl_page_meta_id,
       h.doc_crawl_page_id,
       p.name_str AS name_str,
       p.content_str AS content_str,
       CAST(0 AS smallint) AS deleted_fl,
       CAST(0 AS smallint) AS dirty_fl,
       v.found_at AS create_dt,
       v.found_at AS update_dt,
       'crawler' AS update_nm,
       v.id AS ts
  FROM page_head h
  JOIN page_version v ON v.id = h.version_id
 CROSS APPLY OPENJSON(v.metas) m
 CROSS APPLY OPENJSON(m.value) WITH (name_str nvarchar(512) '$[0]', content_str nvarchar(max) '$[1]') p
 WHERE CAST(m.[key] AS bigint) < 256
