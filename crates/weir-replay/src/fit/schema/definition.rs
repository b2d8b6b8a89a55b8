//! A table's definition without what a copy with other rows cannot have: comments, counters, references, checks.

/// A definition, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Definition {
    /// Lines of columns and of the primary key.
    lines: Vec<String>,
    options: String,
    /// Definitions as they stand after `ALTER TABLE t ADD`, uniqueness left out where several columns make it.
    pub(crate) indexes: Vec<String>,
    /// Columns of the primary key.
    pub(crate) primary: Vec<String>,
    /// Columns that alone must not repeat.
    pub(crate) unique: Vec<String>,
    /// Columns that refer to a table's key, with that table.
    pub(crate) references: Vec<(String, String)>,
    /// Parts that were left out, in words.
    pub(crate) left_out: Vec<String>,
}

const OPTIONS: [&str; 6] = [
    "ENGINE",
    "CHARSET",
    "COLLATE",
    "ROW_FORMAT",
    "KEY_BLOCK_SIZE",
    "COMPRESSION",
];

impl Definition {
    /// Reads the answer of `SHOW CREATE TABLE`.
    pub(crate) fn read(created: &str) -> Self {
        let mut definition = Self::default();
        for line in created.lines().skip(1) {
            let text = without_comment(line.trim().trim_end_matches(','));
            if line.starts_with(')') {
                definition.options = options(&text);
            } else if text.starts_with('`') {
                definition.lines.push(text);
            } else if let Some(rest) = text.strip_prefix("PRIMARY KEY") {
                definition.primary = columns(rest);
                definition.lines.push(text);
            } else if let Some(rest) = text.strip_prefix("UNIQUE KEY ") {
                definition.unique_key(rest);
            } else if text.starts_with("KEY ") || text.starts_with("FULLTEXT KEY ") {
                definition.indexes.push(text.replacen("KEY ", "INDEX ", 1));
            } else if text.contains("FOREIGN KEY") {
                definition.references.extend(reference(&text));
                definition.left_out.push("a foreign key".to_owned());
            } else if text.contains("CHECK (") {
                definition.left_out.push("a check".to_owned());
            } else if text.starts_with("SPATIAL KEY ") {
                definition.left_out.push("a spatial index".to_owned());
            } else if text.contains("PARTITION") {
                definition.left_out.push("its partitions".to_owned());
            }
        }
        definition.left_out.dedup();
        definition
    }

    fn unique_key(&mut self, rest: &str) {
        let columns = columns(rest);
        if let [column] = columns.as_slice() {
            self.unique.push(column.clone());
            self.indexes.push(format!("UNIQUE INDEX {rest}"));
        } else {
            self.left_out
                .push("the uniqueness of an index of several columns".to_owned());
            self.indexes.push(format!("INDEX {rest}"));
        }
    }

    /// The statement that makes it.
    pub(crate) fn create(&self, table: &str) -> String {
        format!(
            "CREATE TABLE {table} (\n  {}\n){}",
            self.lines.join(",\n  "),
            self.options
        )
    }
}

/// Without `COMMENT '...'`, which may say anything.
fn without_comment(line: &str) -> String {
    let Some(start) = line.find(" COMMENT ") else {
        return line.to_owned();
    };
    let rest = &line[start + 9..];
    let Some(inner) = rest.trim_start_matches('=').strip_prefix('\'') else {
        return line.to_owned();
    };
    let mut end = None;
    let mut characters = inner.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '\'' {
            if characters.next_if(|(_, next)| *next == '\'').is_none() {
                end = Some(at + 1);
                break;
            }
        } else if character == '\\' {
            characters.next();
        }
    }
    let after = end.map_or("", |end| &inner[end..]);
    format!("{}{after}", &line[..start])
}

fn options(line: &str) -> String {
    let words = line.trim_start_matches(')').split_ascii_whitespace();
    let kept = words.filter(|word| {
        let name = word.split('=').next().unwrap_or_default();
        OPTIONS.contains(&name)
    });
    kept.fold(String::new(), |all, word| format!("{all} {word}"))
}

/// Column and table of a foreign key of one column.
fn reference(text: &str) -> Option<(String, String)> {
    let names: Vec<&str> = text
        .split_once("FOREIGN KEY")?
        .1
        .split('`')
        .skip(1)
        .step_by(2)
        .collect();
    match names.as_slice() {
        [column, table, _] => Some(((*column).to_owned(), (*table).to_owned())),
        _ => None,
    }
}

/// The names between the outer parentheses.
fn columns(text: &str) -> Vec<String> {
    let Some(list) = text.find('(').map(|start| &text[start + 1..]) else {
        return Vec::new();
    };
    let names = list.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_loses_what_a_copy_cannot_have() {
        let created = "CREATE TABLE `item` (\n  `id` int NOT NULL AUTO_INCREMENT COMMENT 'it''s, secret',\n  \
             `a` varchar(20) DEFAULT NULL,\n  `b` int DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`a`),\n  \
             UNIQUE KEY `v` (`a`,`b`),\n  KEY `k` (`b`),\n  CONSTRAINT `f` FOREIGN KEY (`b`) REFERENCES `x` (`id`)\n\
             ) ENGINE=InnoDB AUTO_INCREMENT=987654 DEFAULT CHARSET=utf8mb4 COMMENT='secret too'";
        let definition = Definition::read(created);
        assert_eq!(definition.primary, ["id"]);
        assert_eq!(definition.unique, ["a"]);
        assert_eq!(
            definition.indexes,
            [
                "UNIQUE INDEX `u` (`a`)",
                "INDEX `v` (`a`,`b`)",
                "INDEX `k` (`b`)"
            ]
        );
        let text = definition.create("item");
        assert!(
            !text.contains("secret") && !text.contains("987654"),
            "{text}"
        );
        assert!(
            text.ends_with("\n) ENGINE=InnoDB CHARSET=utf8mb4"),
            "{text}"
        );
        assert!(text.contains("`id` int NOT NULL AUTO_INCREMENT,"), "{text}");
        assert_eq!(definition.left_out.len(), 2, "{definition:?}");
        assert_eq!(definition.references, [("b".to_owned(), "x".to_owned())]);
    }
}
