-- The pages of the live generation; on content development, primary and backup.
CREATE VIEW doc_crawl_page AS
SELECT v.doc_crawl_page_id,
       v.doc_id,
       v.crawl_page_url,
       NULLIF(v.crawl_page_type_id, 0) AS crawl_page_type_id,
       v.title_str,
       CAST(1 AS smallint) AS updated_fl,
       v.crawl_file,
       v.page_ext,
       CAST(0 AS smallint) AS deleted_fl,
       CAST(0 AS smallint) AS dirty_fl,
       v.create_dt,
       v.create_dt AS update_dt,
       v.update_nm,
       v.published_id AS ts
  FROM live_generation g
  JOIN published_interval i ON i.gen_from <= g.generation AND i.gen_to > g.generation
  JOIN published_version v ON v.published_id = i.published_id
 WHERE g.id = 1
