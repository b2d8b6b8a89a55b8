//! A name within a statement.

/// `name` in backquotes, as every `sql_mode` reads it: also a keyword, or a name with dashes, dots, spaces or
/// backquotes.
pub fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backquotes_stay_within_the_name() {
        assert_eq!(identifier("or`der-1"), "`or``der-1`");
    }
}
