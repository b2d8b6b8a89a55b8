-- Results of schema 6, seen as schema 7.

CREATE TEMP VIEW replay AS SELECT 0 AS run, '' AS record WHERE 0;
