-- What each document shows now of each page; on webcrawl.
CREATE VIEW doc_crawl_page AS
SELECT h.doc_crawl_page_id,
       h.doc_id,
       v.url AS crawl_page_url,
       v.type_id AS crawl_page_type_id,
       v.title AS title_str,
       h.updated_fl,
       b.content AS crawl_file,
       v.extension AS page_ext,
       CAST(0 AS smallint) AS deleted_fl,
       CAST(0 AS smallint) AS dirty_fl,
       v.found_at AS create_dt,
       v.found_at AS update_dt,
       'crawler' AS update_nm,
       v.id AS ts
  FROM page_head h
  JOIN page_version v ON v.id = h.version_id
  LEFT JOIN page_body b ON b.digest = v.digest
