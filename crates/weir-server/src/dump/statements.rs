//! The statements of a script, one after the other: the `DELIMITER` of clients, quotes and comments as servers read them.

use std::io::{BufRead, Read as _};

/// Longest line: mysqldump writes rows of up to 16 MiB into one.
const LINE_BYTES_MAX: u64 = 1 << 30;
/// Longest statement.
const STATEMENT_BYTES_MAX: usize = 1 << 30;

/// Place of a reader within a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    Quoted(u8),
    Comment,
}

/// A script that is read.
pub(super) struct Statements {
    input: Box<dyn BufRead>,
    line: u64,
    delimiter: Vec<u8>,
    /// The rest of the line that was read.
    rest: Vec<u8>,
    ended: bool,
}

impl Statements {
    pub(super) fn new(input: Box<dyn BufRead>) -> Self {
        Self {
            input,
            line: 0,
            delimiter: b";".to_vec(),
            rest: Vec::new(),
            ended: false,
        }
    }

    /// The line that was read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next statement with the line on which it begins.
    pub(super) fn next(&mut self) -> Result<Option<(u64, String)>, String> {
        let mut statement = Vec::new();
        let mut begins = self.line;
        let mut within = Within::Text;
        loop {
            if self.rest.is_empty() && !self.read_line()? {
                if within != Within::Text {
                    return Err("the file ends within a quote or a comment".to_owned());
                }
                return whole(statement, begins);
            }
            let is_new = statement.iter().all(u8::is_ascii_whitespace);
            if is_new {
                begins = self.line;
                if self.takes_delimiter() {
                    statement.clear();
                    continue;
                }
            }
            let line = std::mem::take(&mut self.rest);
            match end_of_statement(&line, &self.delimiter, &mut within) {
                Some(end) => {
                    statement.extend_from_slice(&line[..end]);
                    self.rest = line[end + self.delimiter.len()..].to_vec();
                    if let Some(found) = whole(statement, begins)? {
                        return Ok(Some(found));
                    }
                    statement = Vec::new();
                }
                None => statement.extend_from_slice(&line),
            }
            if statement.len() > STATEMENT_BYTES_MAX {
                return Err("a statement is longer than 1 GiB".to_owned());
            }
        }
    }

    fn read_line(&mut self) -> Result<bool, String> {
        if self.ended {
            return Ok(false);
        }
        self.rest.clear();
        let mut limited = self.input.by_ref().take(LINE_BYTES_MAX);
        let length = limited
            .read_until(b'\n', &mut self.rest)
            .map_err(|error| error.to_string())?;
        self.line += 1;
        self.ended = length == 0;
        Ok(!self.ended)
    }

    /// Returns true if the line is a client's `DELIMITER`, which holds from now on.
    fn takes_delimiter(&mut self) -> bool {
        let line = self.rest.trim_ascii();
        let Some((word, rest)) = line.split_at_checked(9) else {
            return false;
        };
        if !word.eq_ignore_ascii_case(b"DELIMITER")
            || !rest.first().is_some_and(u8::is_ascii_whitespace)
        {
            return false;
        }
        self.delimiter = rest.trim_ascii().to_vec();
        self.rest.clear();
        true
    }
}

/// Returns the position of the delimiter in a line; `within` goes on in the next one.
fn end_of_statement(line: &[u8], delimiter: &[u8], within: &mut Within) -> Option<usize> {
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        match *within {
            Within::Quoted(quote) => {
                if rest[0] == b'\\' && quote != b'`' {
                    at += 1;
                } else if rest[0] == quote {
                    // A doubled one closes and opens again.
                    *within = Within::Text;
                }
                at += 1;
            }
            Within::Comment => {
                if rest.starts_with(b"*/") {
                    *within = Within::Text;
                    at += 1;
                }
                at += 1;
            }
            Within::Text => {
                if rest.starts_with(delimiter) {
                    return Some(at);
                }
                let is_line_comment = rest[0] == b'#'
                    || rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace);
                if is_line_comment {
                    return None;
                }
                match rest[0] {
                    quote @ (b'\'' | b'"' | b'`') => *within = Within::Quoted(quote),
                    // Comments whose text servers execute have quotes of their own and end like any text.
                    b'/' if rest.starts_with(b"/*")
                        && !rest.starts_with(b"/*!")
                        && !rest.starts_with(b"/*M!") =>
                    {
                        *within = Within::Comment;
                        at += 1;
                    }
                    _ => {}
                }
                at += 1;
            }
        }
    }
    None
}

/// A statement that is more than comments.
fn whole(bytes: Vec<u8>, line: u64) -> Result<Option<(u64, String)>, String> {
    let text = String::from_utf8(bytes).map_err(|_| "a statement is not UTF-8".to_owned())?;
    let lines = text.lines().skip_while(|line| {
        let line = line.trim();
        // MariaDB's first line is for its own client.
        let is_of_client = line.starts_with("/*M!999999\\-");
        let is_comment = line.starts_with('#') || line.starts_with("-- ") || line == "--";
        line.is_empty() || is_comment || is_of_client
    });
    let text: Vec<&str> = lines.collect();
    let text = text.join("\n");
    let text = text.trim();
    Ok((!text.is_empty()).then(|| (line, text.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(script: &'static str) -> Vec<(u64, String)> {
        let mut statements = Statements::new(Box::new(script.as_bytes()));
        let mut found = Vec::new();
        while let Some(statement) = statements.next().unwrap() {
            found.push(statement);
        }
        found
    }

    #[test]
    fn statements_end_at_their_delimiter_and_nowhere_else() {
        let found = all(
            "-- a; comment\n/*!40101 SET NAMES utf8mb4 */;\nINSERT INTO t VALUES ('a;\\'b','c'';d'),\n(\"x;\");\n\
             DELIMITER ;;\nCREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END ;;\nDELIMITER ;\n\
             /* c ; d */ SELECT 1; SELECT `a;` # e;\n;\nSELECT 2",
        );
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "/*!40101 SET NAMES utf8mb4 */",
                "INSERT INTO t VALUES ('a;\\'b','c'';d'),\n(\"x;\")",
                "CREATE TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a = 1; END",
                "/* c ; d */ SELECT 1",
                "SELECT `a;` # e;",
                "SELECT 2",
            ]
        );
        assert_eq!(found[1].0, 3);
    }

    #[test]
    fn a_line_for_the_client_takes_no_statement_with_it() {
        let head = "/*M!999999\\- enable the sandbox mode */ \n-- MariaDB dump\n--\n";
        let script = format!("{head}\n/*!40101 SET @old = @@character_set_client */;\nSELECT 1;");
        let found = all(script.leak());
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            texts,
            ["/*!40101 SET @old = @@character_set_client */", "SELECT 1"]
        );
    }

    #[test]
    fn a_file_that_ends_within_a_quote_is_told() {
        let mut statements = Statements::new(Box::new(&b"SELECT 'x;"[..]));
        assert!(statements.next().is_err());
    }
}
