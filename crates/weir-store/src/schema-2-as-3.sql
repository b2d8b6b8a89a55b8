-- Results of schema 2, seen as schema 3: temporary views stand before the file's tables of the same
-- name, so that one reader reads both and the file is not touched.

CREATE TEMP VIEW metric AS SELECT id, name, '' AS instance FROM main.metric;

CREATE TEMP VIEW gap AS
SELECT 0 AS run, '' AS source, 0.0 AS from_s, 0.0 AS to_s, '' AS reason WHERE 0;
