-- Results of schema 5, seen as schema 6.

CREATE TEMP VIEW event AS
SELECT 0 AS run, 0 AS position, '' AS name, '' AS kind, 0.0 AS began_s, 0.0 AS ended_s, 0 AS tries,
       0.0 AS lock_wait_s, '' AS ending, '' AS session WHERE 0;
