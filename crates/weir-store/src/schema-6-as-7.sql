-- Results of schema 6, seen as schema 7.

CREATE TEMP VIEW event_detail AS SELECT 0 AS run, 0 AS position, '' AS detail WHERE 0;
CREATE TEMP VIEW short_interval AS
SELECT 0 AS run, 0.0 AS time_s, 0 AS transactions, 0 AS statements, 0.0 AS pause_s, 0.0 AS latency_us_p99 WHERE 0;
CREATE TEMP VIEW connection_loss AS SELECT 0 AS run, '' AS losses WHERE 0;
