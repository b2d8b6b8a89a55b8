//! Which schemas a statement that writes names.
//!
//! Names stand after words such as `INTO` and `FROM`, and after commas between tables. A path of two names
//! elsewhere is a column of a table, unless no table is called so.

use super::tokens::Token;

/// Words after which a table is named.
const BEFORE_TABLE: [&str; 11] = [
    "INTO",
    "UPDATE",
    "FROM",
    "JOIN",
    "TABLE",
    "TABLES",
    "USING",
    "TRUNCATE",
    "REFERENCES",
    "LIKE",
    "TO",
];
/// Words that stand between those and the table.
const BETWEEN: [&str; 7] = [
    "IF",
    "NOT",
    "EXISTS",
    "ONLY",
    "IGNORE",
    "LOW_PRIORITY",
    "QUICK",
];
/// Words that end a list of tables.
const AFTER_TABLES: [&str; 10] = [
    "SET", "WHERE", "VALUES", "VALUE", "SELECT", "GROUP", "ORDER", "LIMIT", "ON", "ADD",
];
/// Functions whose arguments are divided by `FROM`.
const FROM_INSIDE: [&str; 6] = ["EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "MID", "OVERLAY"];

/// The schemas that the tokens of a statement name, each as often as it is named.
pub(super) fn schemas(tokens: &[Token<'_>]) -> Vec<String> {
    let mut scan = Scan::default();
    let mut at = 0;
    while at < tokens.len() {
        at += scan.step(tokens, at);
    }
    scan.schemas()
}

#[derive(Debug, Default)]
struct Scan<'a> {
    /// A table comes next.
    expects_table: bool,
    /// Commas at this depth of parentheses divide tables.
    list_depth: Option<usize>,
    depth: usize,
    /// Depth of parentheses in which `FROM` divides the arguments of a function.
    function_depth: Option<usize>,
    /// Names of tables and their aliases.
    tables: Vec<&'a str>,
    named: Vec<&'a str>,
    /// First names of paths of two outside lists of tables.
    qualifiers: Vec<&'a str>,
}

impl<'a> Scan<'a> {
    /// Takes the token at `at`, and what belongs to it; how many those are.
    fn step(&mut self, tokens: &[Token<'a>], at: usize) -> usize {
        match tokens[at] {
            Token::Sign('(') => {
                self.depth += 1;
                let before = at.checked_sub(1).map(|before| tokens[before]);
                if before.is_some_and(|word| FROM_INSIDE.iter().any(|name| word.is(name))) {
                    self.function_depth = Some(self.depth);
                }
                1
            }
            Token::Sign(')') => {
                if self.function_depth == Some(self.depth) {
                    self.function_depth = None;
                }
                self.depth = self.depth.saturating_sub(1);
                1
            }
            Token::Sign(',') => {
                self.expects_table = self.list_depth == Some(self.depth);
                1
            }
            token @ Token::Word(_) if self.keyword(token, tokens, at) => 1,
            token if token.name().is_some() => self.path(tokens, at),
            _ => 1,
        }
    }

    /// Whether a word was one that tells where tables stand.
    fn keyword(&mut self, word: Token<'a>, tokens: &[Token<'a>], at: usize) -> bool {
        let is_path = tokens.get(at + 1) == Some(&Token::Sign('.'));
        let follows = |keyword: &str| at > 0 && tokens[at - 1].is(keyword);
        if is_path || at > 0 && tokens[at - 1] == Token::Sign('.') {
            return false;
        }
        if self.expects_table && BETWEEN.iter().any(|name| word.is(name)) {
            return true;
        }
        let is_update_of_rows = word.is("UPDATE") && (follows("KEY") || follows("FOR"));
        let is_argument = word.is("FROM") && self.function_depth.is_some();
        if BEFORE_TABLE.iter().any(|name| word.is(name)) && !is_update_of_rows && !is_argument {
            self.expects_table = true;
            self.list_depth = Some(self.depth);
            return true;
        }
        if word.is("DELETE") {
            // Tables may stand before FROM, too.
            self.expects_table = true;
            self.list_depth = Some(self.depth);
            return true;
        }
        if AFTER_TABLES.iter().any(|name| word.is(name)) {
            self.expects_table = false;
            self.list_depth = None;
            return true;
        }
        false
    }

    /// Takes a path of names divided by dots.
    fn path(&mut self, tokens: &[Token<'a>], at: usize) -> usize {
        let mut names = vec![tokens[at].name().unwrap_or_default()];
        let mut taken = 1;
        while tokens.get(at + taken) == Some(&Token::Sign('.')) {
            let next = tokens.get(at + taken + 1);
            // `DELETE t.* FROM t`: the star stands for no name.
            names.extend(next.and_then(|token| token.name()));
            taken += 2;
        }
        if self.expects_table {
            self.expects_table = false;
            self.named.extend((names.len() > 1).then(|| names[0]));
            self.tables.extend(names.last());
            self.tables.extend(alias(tokens, at + taken));
        } else if names.len() > 2 {
            self.named.push(names[0]);
        } else if names.len() == 2 {
            self.qualifiers.push(names[0]);
        }
        taken
    }

    fn schemas(self) -> Vec<String> {
        let is_table = |name: &&str| self.tables.iter().any(|table| table == name);
        // A number before a dot is one with digits after it.
        let is_number = |name: &&str| name.starts_with(|c: char| c.is_ascii_digit());
        let unknown = self.qualifiers.iter().filter(|name| !is_table(name));
        let is_new_row = |name: &&str| ["NEW", "OLD"].contains(&name.to_uppercase().as_str());
        let all = self.named.iter().chain(unknown);
        all.filter(|name| !is_number(name) && !is_new_row(name) && !name.starts_with('@'))
            .map(|name| (*name).to_owned())
            .collect()
    }
}

/// What a table is called from here on, if that is said: `orders AS o`, `orders o`.
fn alias<'a>(tokens: &[Token<'a>], at: usize) -> Option<&'a str> {
    let first = tokens.get(at)?;
    if first.is("AS") {
        return tokens.get(at + 1)?.name();
    }
    first.name()
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn of(sql: &str) -> Vec<String> {
        schemas(&tokens(sql))
    }

    #[test]
    fn columns_and_aliases_are_no_schemas() {
        for sql in [
            "UPDATE orders o JOIN items AS i ON o.item = i.id SET o.n = i.n + 1.5",
            "DELETE o.* FROM orders o, items i WHERE o.id = i.id",
            "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE t.a = VALUES(a)",
            "INSERT INTO t SELECT EXTRACT(YEAR FROM d.day) FROM days d",
            "CREATE TABLE t (a INT, b INT, KEY (b))",
            "REPLACE t SET a = 1",
            "UPDATE t SET a = 'x.y', b = `t`.`c`",
            "ALTER TABLE t ADD KEY k (a)",
        ] {
            assert_eq!(of(sql), [""; 0], "{sql}");
        }
    }

    #[test]
    fn schemas_are_found_wherever_they_stand() {
        for sql in [
            "UPDATE hr.t SET a = 1",
            "UPDATE t, hr.u SET t.a = 1",
            "UPDATE t JOIN `hr`.`u` ON 1 SET t.a = 1",
            "UPDATE t SET hr.u.a = 1",
            "DELETE FROM hr.t",
            "DELETE hr.t FROM hr.t JOIN u",
            "INSERT INTO hr.t VALUES (1)",
            "INSERT IGNORE INTO hr . t VALUES (1)",
            "CREATE TABLE IF NOT EXISTS hr.t (a INT)",
            "CREATE TABLE t LIKE hr.t",
            "DROP TABLE t, hr.u",
            "TRUNCATE hr.t",
            "RENAME TABLE t TO hr.t",
            "ALTER TABLE hr.t ADD b INT",
            "REPLACE INTO hr.t SET a = 1",
        ] {
            let found = of(sql);
            assert!(!found.is_empty(), "{sql}");
            assert!(
                found.iter().all(|schema| schema == "hr"),
                "{sql}: {found:?}"
            );
        }
    }
}
