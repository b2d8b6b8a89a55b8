//! Words of command lines that are printed for a shell.

/// A word as a shell takes it for one.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn a_word_that_a_shell_would_take_apart_is_quoted() {
        assert_eq!(shell_word("--time=0.2"), "--time=0.2");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("--text-file=a b'c"), "'--text-file=a b'\\''c'");
    }
}
