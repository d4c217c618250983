-- The databases beside doc_library, made when the PostgreSQL of compose.yaml starts for the first time.
CREATE DATABASE webcrawl;
CREATE DATABASE primary_library;
CREATE DATABASE backup_library;
