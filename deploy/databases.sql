-- When the PostgreSQL of compose.yaml starts for the first time: our databases, and the role that owns them and nothing else.
\getenv password LIBRARY_PASSWORD
CREATE ROLE clearinghouse LOGIN PASSWORD :'password';
CREATE DATABASE doc_library OWNER clearinghouse;
CREATE DATABASE webcrawl OWNER clearinghouse;
CREATE DATABASE primary_library OWNER clearinghouse;
CREATE DATABASE backup_library OWNER clearinghouse;
