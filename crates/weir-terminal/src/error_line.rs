//! An error as the one line that a user reads.

/// The error with its causes, without the system's numbers of errors, whose words stand beside them. A cause that the
/// error names already is left out, also if it only adds a number.
pub fn error_line(error: &anyhow::Error) -> String {
    let mut line = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        let words = cause.rsplit_once(": ").map_or(&*cause, |(_, words)| words);
        if !line.contains(words) {
            line = format!("{line}: {cause}");
        }
    }
    without_numbers(&line)
}

/// `line` without ` (os error 2)`.
fn without_numbers(line: &str) -> String {
    const NUMBER: &str = " (os error ";
    let mut parts = line.split(NUMBER);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.push_str(rest);
            }
            _ => {
                text.push_str(NUMBER);
                text.push_str(part);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context as _;

    use super::*;

    #[test]
    fn an_error_is_one_line_without_the_numbers_of_the_system() {
        let missing = io::Error::from_raw_os_error(2);
        let error = anyhow::Error::from(missing).context("cannot read study `a.toml`");
        assert_eq!(
            error_line(&error),
            "cannot read study `a.toml`: No such file or directory"
        );
        assert_eq!(
            without_numbers("`a` (No (os error 13)); do"),
            "`a` (No); do"
        );
        assert_eq!(
            without_numbers("in (os error x) and (os error 2"),
            "in (os error x) and (os error 2"
        );
    }

    #[test]
    fn a_cause_that_only_adds_a_number_is_left_out() {
        let cause: anyhow::Result<()> =
            Err(anyhow::anyhow!("Error code 26: file is not a database"));
        let error = cause
            .context("cannot read result `a` (file is not a database); give a folder")
            .unwrap_err();
        assert_eq!(
            error_line(&error),
            "cannot read result `a` (file is not a database); give a folder"
        );
    }
}
