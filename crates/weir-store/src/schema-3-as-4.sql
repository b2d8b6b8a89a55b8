-- Results of schema 3, seen as schema 4.

CREATE TEMP VIEW server_log AS SELECT 0 AS run, '' AS text WHERE 0;
