//! The statements of `bulk_insert`: as many rows as fit 512 KiB of text.
//!
//! Row `n` is `(n,n)`. Where a statement ends follows what a server's log shows of sysbench 1.0.20:
//! its text is shorter than 512 KiB, so that the first statement of a table ends at row 39,033.

use super::generator::put_integer;

/// A statement is shorter than this.
const STATEMENT_BYTES: usize = 512 << 10;
/// The fewest bytes of a row with its comma.
const ROW_BYTES_MIN: usize = 6;

/// A bulk insert being built, digit by digit: formatting would take longer than sending.
#[derive(Debug)]
pub struct BulkText<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    rows: u64,
}

impl<'a> BulkText<'a> {
    /// The most rows that a statement can have.
    pub const ROWS_MAX: u64 = (STATEMENT_BYTES / ROW_BYTES_MIN) as u64;

    /// Appends the beginning of a statement for table `number` to `out`.
    pub fn new(out: &'a mut Vec<u8>, number: u32) -> Self {
        let start = out.len();
        out.extend_from_slice(b"INSERT INTO sbtest");
        put_integer(out, number.into());
        out.extend_from_slice(b" VALUES");
        Self {
            out,
            start,
            rows: 0,
        }
    }

    /// Appends rows from `first` on, `rows_max` at most; how many.
    pub fn fill(mut self, first: u32, rows_max: u64) -> u64 {
        let mut id = first;
        while self.rows < rows_max {
            let before = self.out.len();
            if self.rows > 0 {
                self.out.push(b',');
            }
            self.out.push(b'(');
            put_integer(self.out, id.into());
            self.out.push(b',');
            put_integer(self.out, id.into());
            self.out.push(b')');
            if self.out.len() - self.start >= STATEMENT_BYTES {
                self.out.truncate(before);
                break;
            }
            self.rows += 1;
            id = id.wrapping_add(1);
        }
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: u32, first: u32, rows_max: u64) -> (String, u64) {
        let mut out = b"x".to_vec();
        let rows = BulkText::new(&mut out, number).fill(first, rows_max);
        (String::from_utf8(out).unwrap(), rows)
    }

    #[test]
    fn rows_are_pairs_of_their_number() {
        let (sql, rows) = text(12, 9, 3);
        assert_eq!(sql, "xINSERT INTO sbtest12 VALUES(9,9),(10,10),(11,11)");
        assert_eq!(rows, 3);
        assert_eq!(text(1, u32::MAX, 1).0.matches("4294967295").count(), 2);
    }

    #[test]
    fn statements_end_where_sysbenchs_end() {
        // Logged by a server under sysbench 1.0.20: 1 to 39033, 39034 to 76480.
        let (sql, rows) = text(1, 1, BulkText::ROWS_MAX);
        assert_eq!(rows, 39_033);
        assert!(sql.ends_with("(39032,39032),(39033,39033)"));
        assert_eq!(text(1, 39_034, BulkText::ROWS_MAX).1, 76_480 - 39_033);
    }
}
