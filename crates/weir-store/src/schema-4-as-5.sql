-- Results of schema 4, seen as schema 5. Their plans have another form, which `earlier_plan.rs` reads.

CREATE TEMP VIEW kind_latency AS
SELECT 0 AS run, 0 AS position, '' AS name, 0 AS is_statement, 0 AS count, '' AS latency WHERE 0;
