//! Schemas that a statement that writes names.
//!
//! Names of tables stand after words such as `INTO` and `FROM`, and after commas between tables. A path of
//! two names elsewhere is a column of a table, unless no table is called so, or it is called as a function.

use super::tokens::Token;

/// Words after which a table is named, wherever they stand.
const BEFORE_TABLE: [&str; 10] = [
    "INTO",
    "UPDATE",
    "FROM",
    "JOIN",
    "STRAIGHT_JOIN",
    "TABLE",
    "USING",
    "REFERENCES",
    "RENAME",
    "TO",
];
/// Words after which a table is named where they begin a statement; elsewhere they are functions.
const VERBS_BEFORE_TABLE: [&str; 5] = ["INSERT", "REPLACE", "TRUNCATE", "DELETE", "LOCK"];
/// Words that stand between those and the table.
const BETWEEN: [&str; 11] = [
    "IF",
    "NOT",
    "EXISTS",
    "ONLY",
    "IGNORE",
    "LOW_PRIORITY",
    "HIGH_PRIORITY",
    "DELAYED",
    "QUICK",
    "AS",
    "TABLES",
];
/// Words that end a list of tables.
const AFTER_TABLES: [&str; 9] = [
    "SET", "WHERE", "SELECT", "GROUP", "HAVING", "ORDER", "LIMIT", "WINDOW", "ADD",
];
/// Functions whose arguments are divided by `FROM`.
const FROM_INSIDE: [&str; 6] = ["EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "MID", "OVERLAY"];

/// Names of a trigger for the row that is written.
const ROWS_OF_TRIGGERS: [&str; 4] = ["NEW", "OLD", "new", "old"];

/// The schemas that the tokens of a statement name, each as often as it is named.
pub(super) fn schemas(tokens: &[Token<'_>]) -> Vec<String> {
    Scan::new(tokens).all().schemas()
}

/// The schemas that the tokens of a trigger's body or of a view name.
pub(super) fn schemas_of_code(tokens: &[Token<'_>]) -> Vec<String> {
    let mut scan = Scan::new(tokens);
    scan.tables.extend(ROWS_OF_TRIGGERS);
    scan.all().schemas()
}

/// The names of the tables that the tokens of a statement name, and of what could be one.
pub(super) fn tables(tokens: &[Token<'_>]) -> Vec<String> {
    let scan = Scan::new(tokens).all();
    scan.tables.iter().map(|name| (*name).to_owned()).collect()
}

/// Level of parentheses.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    /// Commas divide tables.
    is_list: bool,
    /// `FROM` divides the arguments of a function.
    is_arguments: bool,
}

#[derive(Debug)]
struct Scan<'t, 'a> {
    tokens: &'t [Token<'a>],
    /// A table comes next.
    expects_table: bool,
    /// The statement itself, and each parenthesis that is open.
    levels: Vec<Level>,
    /// Names of tables and their aliases.
    tables: Vec<&'a str>,
    named: Vec<&'a str>,
    /// First names of paths of two outside lists of tables.
    qualifiers: Vec<&'a str>,
}

impl<'t, 'a> Scan<'t, 'a> {
    fn new(tokens: &'t [Token<'a>]) -> Self {
        Self {
            tokens,
            expects_table: false,
            levels: vec![Level::default()],
            tables: Vec::new(),
            named: Vec::new(),
            qualifiers: Vec::new(),
        }
    }

    /// Takes all tokens.
    fn all(mut self) -> Self {
        let mut at = 0;
        while at < self.tokens.len() {
            at += self.step(at);
        }
        self
    }

    fn token(&self, at: usize) -> Option<Token<'a>> {
        self.tokens.get(at).copied()
    }

    fn before(&self, at: usize) -> Option<Token<'a>> {
        self.token(at.checked_sub(1)?)
    }

    fn level(&mut self) -> &mut Level {
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    /// Takes the token at `at`, and what belongs to it; how many those are.
    fn step(&mut self, at: usize) -> usize {
        let token = self.tokens[at];
        match token {
            Token::Sign('(') => self.open(at),
            Token::Sign(')') => self.close(at),
            Token::Sign(',') => {
                self.expects_table = self.level().is_list;
                1
            }
            Token::Double(_) if !self.is_name(at) => 1,
            _ if self.keyword(token, at) || token.name().is_none() => 1,
            _ => self.path(at),
        }
    }

    fn open(&mut self, at: usize) -> usize {
        let before = self.before(at);
        self.levels.push(Level {
            is_list: self.expects_table,
            is_arguments: before.is_some_and(|word| word.is_any(&FROM_INSIDE)),
        });
        1
    }

    fn close(&mut self, at: usize) -> usize {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
        self.expects_table = false;
        // `(SELECT ...) AS o`, `VALUES (1) AS new`.
        self.tables.extend(self.alias(at + 1));
        1
    }

    /// Returns true if a text in double quotes can only be a name here.
    fn is_name(&self, at: usize) -> bool {
        let is_dot = |token: Option<Token<'_>>| token == Some(Token::Sign('.'));
        self.expects_table || is_dot(self.before(at)) || is_dot(self.token(at + 1))
    }

    /// Returns true if a word was a keyword before tables.
    fn keyword(&mut self, word: Token<'a>, at: usize) -> bool {
        let before = self.before(at);
        let after = self.token(at + 1);
        let follows = |keywords: &[&str]| before.is_some_and(|token| token.is_any(keywords));
        if [before, after].contains(&Some(Token::Sign('.'))) {
            return false;
        }
        if self.expects_table && word.is_any(&BETWEEN) {
            return true;
        }
        let is_sequence = word.is("FOR") && follows(&["VALUE"]);
        let is_definition = |scan: &Self| scan.tokens[0].is("CREATE");
        let is_of_rows = word.is("UPDATE") && follows(&["KEY", "FOR", "ON"]);
        let is_argument = word.is("FROM") && self.level().is_arguments;
        let is_before_table = word.is_any(&BEFORE_TABLE) && !is_of_rows && !is_argument
            || at == 0 && word.is_any(&VERBS_BEFORE_TABLE)
            || at == 1 && word.is("TABLES")
            || word.is("LIKE") && is_definition(self)
            || is_sequence;
        if is_before_table {
            self.expects_table = true;
            self.level().is_list = true;
            return true;
        }
        let has_rows = word.is_any(&["VALUES", "VALUE"])
            && after.is_some_and(|next| next == Token::Sign('(') || next.is("ROW"));
        let is_duplicate = word.is("DUPLICATE") && after.is_some_and(|next| next.is("KEY"));
        if word.is_any(&AFTER_TABLES) || has_rows || is_duplicate {
            self.expects_table = false;
            self.level().is_list = false;
            return true;
        }
        if word.is("ON") {
            // More tables may follow the condition of a join.
            self.expects_table = false;
            return true;
        }
        false
    }

    /// Takes a path of names divided by dots.
    fn path(&mut self, at: usize) -> usize {
        let first = self.tokens[at];
        let mut names = vec![first.name().unwrap_or_default()];
        let mut taken = 1;
        while self.token(at + taken) == Some(Token::Sign('.')) {
            let next = self.token(at + taken + 1);
            // `DELETE t.* FROM t`: the star stands for no name.
            names.extend(next.and_then(Token::name));
            taken += 2;
        }
        let is_call = self.token(at + taken) == Some(Token::Sign('('));
        if self.expects_table {
            self.expects_table = false;
            self.named.extend((names.len() > 1).then(|| names[0]));
            self.tables.extend(names.last());
            self.tables.extend(self.alias(at + taken));
        } else if names.len() > 2 || names.len() == 2 && is_call {
            self.named.push(names[0]);
        } else if names.len() == 2 {
            self.qualifiers.push(names[0]);
        }
        taken
    }

    /// Returns the word at `at` if it names the table before it: `orders AS o`, `orders o`.
    fn alias(&self, at: usize) -> Option<&'a str> {
        let first = self.token(at)?;
        if first.is("AS") {
            return self.token(at + 1)?.name();
        }
        first.name()
    }

    fn schemas(self) -> Vec<String> {
        let is_table = |name: &&&str| self.tables.iter().any(|table| table == *name);
        let unknown = self.qualifiers.iter().filter(|name| !is_table(name));
        let all = self.named.iter().chain(unknown);
        all.map(|name| (*name).to_owned()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn schemas_in(sql: &str) -> Vec<String> {
        schemas(&tokens(sql))
    }

    #[test]
    fn columns_and_aliases_are_no_schemas() {
        for sql in [
            "UPDATE orders o JOIN items AS i ON o.item = i.id SET o.n = i.n + 1.5",
            "DELETE o.* FROM orders o, items i WHERE o.id = i.id",
            "DELETE FROM o USING orders AS o JOIN items i ON i.id = o.item",
            "INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE t.a = VALUES(a), t.b = 1.5",
            "INSERT INTO t (a) VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a",
            "INSERT INTO t SELECT EXTRACT(YEAR FROM d.day) FROM days d",
            "INSERT INTO t (a) SELECT o.a FROM orders o JOIN items i USING (id) WHERE o.b LIKE i.b",
            "CREATE TABLE t (a INT, b INT, KEY (b))",
            "CREATE TABLE t (a DECIMAL(5,2) DEFAULT 1.5, p INT REFERENCES p (id), \
             CHECK (a > 0.5)) ENGINE = InnoDB, COMMENT = 'x'",
            "CREATE TABLE t (d TIMESTAMP ON UPDATE CURRENT_TIMESTAMP) PARTITION BY RANGE (a) \
             (PARTITION p VALUES LESS THAN (1.5))",
            "REPLACE t SET a = 1",
            "REPLACE INTO t (a) SELECT REPLACE(u.a, 'x', 'y') FROM u",
            "UPDATE t SET a = 'x.y', b = `t`.`c`, c = \"x.y\"",
            "UPDATE t SET a = TRUNCATE(t.b, 2), b = TRIM(LEADING 'x' FROM t.c)",
            "UPDATE t JOIN (SELECT a FROM u) AS d ON d.a = t.a SET t.b = d.a",
            "UPDATE t JOIN (SELECT a FROM u) d ON d.a = t.a SET t.b = (SELECT MAX(v.a) FROM v)",
            "UPDATE t, u FORCE INDEX (k) SET t.a = u.b WHERE t.id = u.id AND t.a IN (1.5, 2.5)",
            "UPDATE t LEFT JOIN u ON t.a = u.a SET t.b = 1 WHERE u.a IS NULL ORDER BY t.id LIMIT 5",
            "ALTER TABLE t ADD KEY k (a)",
            "ALTER TABLE t ADD a INT, RENAME COLUMN b TO c, MODIFY d DECIMAL(3,1) DEFAULT 1.5",
            "ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4, RENAME TO u",
            "LOAD DATA LOCAL INFILE 'x' INTO TABLE t CHARACTER SET utf8mb4 (a, b)",
        ] {
            assert_eq!(schemas_in(sql), [""; 0], "{sql}");
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
            "INSERT hr.t VALUES (1)",
            "INSERT IGNORE INTO hr . t VALUES (1)",
            "INSERT INTO \"hr\".\"t\" VALUES (1)",
            "INSERT INTO t SELECT a FROM hr.u",
            "INSERT INTO t VALUES (hr.f(1))",
            "CREATE TABLE IF NOT EXISTS hr.t (a INT)",
            "CREATE TABLE t LIKE hr.t",
            "CREATE TABLE t (LIKE hr.t)",
            "CREATE TABLE t (a INT REFERENCES hr.u (a))",
            "DROP TABLE t, hr.u",
            "TRUNCATE hr.t",
            "RENAME TABLE t TO hr.t",
            "RENAME TABLE t TO u, hr.t TO v",
            "ALTER TABLE hr.t ADD b INT",
            "ALTER TABLE t RENAME hr.t",
            "ALTER TABLE t RENAME AS hr.t",
            "ALTER TABLE t RENAME TO hr.t",
            "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE hr.t",
            "REPLACE INTO hr.t SET a = 1",
            "REPLACE hr.t SET a = 1",
            "LOCK TABLES t READ, hr.u WRITE",
            "ANALYZE TABLES t, hr.u",
            "SELECT NEXT VALUE FOR hr.s",
        ] {
            let found = schemas_in(sql);
            assert!(!found.is_empty(), "{sql}");
            assert!(
                found.iter().all(|schema| schema == "hr"),
                "{sql}: {found:?}"
            );
        }
    }

    #[test]
    fn what_stored_code_reaches_is_found_in_it() {
        let code = |sql: &str| schemas_of_code(&tokens(sql));
        for sql in [
            "BEGIN SET NEW.a = OLD.a + 1; UPDATE u SET b = NEW.a WHERE u.id = new.id; END",
            "SET NEW.at = NOW()",
        ] {
            assert_eq!(code(sql), [""; 0], "{sql}");
        }
        for sql in [
            "INSERT INTO hr.log VALUES (NEW.id)",
            "BEGIN INSERT INTO t VALUES (1); INSERT hr.log VALUES (NEW.id); END",
            "CALL hr.note(NEW.id)",
            "SET NEW.a = hr.f(NEW.b)",
            "select `hr`.`people`.`id` AS `id` from `hr`.`people`",
        ] {
            let found = code(sql);
            assert!(!found.is_empty(), "{sql}");
            assert!(
                found.iter().all(|schema| schema == "hr"),
                "{sql}: {found:?}"
            );
        }
        let named = tables(&tokens(
            "UPDATE orders o JOIN items AS i ON o.a = i.a SET o.b = 1",
        ));
        assert!(
            ["orders", "items"]
                .iter()
                .all(|name| named.contains(&(*name).to_owned()))
        );
    }

    /// A table of the own schema that is called as the other schema is hides nothing.
    #[test]
    fn a_table_called_as_a_schema_hides_it_not() {
        for sql in [
            "ALTER TABLE hr RENAME hr.t",
            "UPDATE hr, hr.t SET hr.a = 1",
            "UPDATE hr JOIN (u, hr.t) ON 1 SET t.a = 1",
            "UPDATE hr JOIN u ON hr.a = u.a, hr.t SET t.a = 1",
            "UPDATE hr JOIN u ON value = 1, hr.t SET t.a = 1",
            "DROP TABLE hr, hr.t",
            "RENAME TABLE hr TO u, hr.t TO v",
            "INSERT hr.t SELECT hr.a FROM hr",
            "INSERT INTO hr VALUES (hr.f())",
        ] {
            assert!(
                schemas_in(sql).contains(&"hr".to_owned()),
                "{sql}: {:?}",
                schemas_in(sql)
            );
        }
    }

    #[test]
    fn names_that_look_like_something_else_are_names() {
        for (sql, schema) in [
            ("UPDATE new.t SET a = 1", "new"),
            ("DELETE FROM 1abc.t", "1abc"),
            ("DELETE FROM `7`.t", "7"),
            ("DELETE FROM `@x`.t", "@x"),
            ("DELETE FROM hr\u{a0}.t", "hr\u{a0}"),
        ] {
            assert_eq!(schemas_in(sql), [schema], "{sql}");
        }
    }
}
