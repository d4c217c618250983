-- The meta tags of the pages of the live generation; on content development, primary and backup.
CREATE VIEW crawl_page_meta AS
SELECT m.published_meta_id AS crawl_page_meta_id,
       v.doc_crawl_page_id,
       m.name_str,
       m.content_str,
       CAST(0 AS smallint) AS deleted_fl,
       CAST(0 AS smallint) AS dirty_fl,
       v.create_dt,
       v.create_dt AS update_dt,
       v.update_nm,
       m.published_meta_id AS ts
  FROM live_generation g
  JOIN published_interval i ON i.gen_from <= g.generation AND i.gen_to > g.generation
  JOIN published_version v ON v.published_id = i.published_id
  JOIN published_meta m ON m.published_id = v.published_id
 WHERE g.id = 1
