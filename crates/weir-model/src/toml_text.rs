//! TOML as users write it: errors in one line, with their line and a suggestion.

mod words;

use serde::de::DeserializeOwned;

use words::plain;

/// Reads `text`; an error says line, reason and, for a wrong name, the nearest right one.
///
/// # Errors
/// If the text is no TOML or does not fit the type.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| one_line(&error, text))
}

fn one_line(error: &toml::de::Error, text: &str) -> String {
    let line = error
        .span()
        .map(|span| 1 + text[..span.start].matches('\n').count());
    let line = line
        .map(|line| format!("line {line}: "))
        .unwrap_or_default();
    let reason = error.message().lines().collect::<Vec<_>>().join(" ");
    format!("{line}{}", plain(&reason))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[expect(dead_code, reason = "only its name matters")]
        threads: u32,
        #[expect(dead_code, reason = "only its name matters")]
        warmup: Option<String>,
        #[expect(dead_code, reason = "only its name matters")]
        shares: Option<Vec<f64>>,
    }

    fn refused(text: &str) -> String {
        parse_toml::<File>(text).unwrap_err()
    }

    #[test]
    fn a_wrong_name_has_its_line_and_the_nearest_right_one() {
        assert_eq!(
            refused("\nthread = 3\n"),
            "line 2: unknown key `thread`; did you mean `threads`?"
        );
        assert_eq!(
            refused("zzzzzzzzzz = 3"),
            "line 1: unknown key `zzzzzzzzzz`; there are `threads`, `warmup`, `shares`"
        );
    }

    #[test]
    fn a_wrong_type_is_told_in_words_of_the_file() {
        for (text, reason) in [
            (
                "threads = \"many\"",
                "`\"many\"` must be a whole number, such as 1_000",
            ),
            (
                "threads = -1",
                "`-1` must be a whole number that is not negative",
            ),
            (
                "threads = 1\nwarmup = 2",
                "`2` must be text in quotes, with a unit where it needs one, such as \"2s\"",
            ),
            (
                "threads = 1\nshares = 0.5",
                "`0.5` must be a list, such as [0.5]",
            ),
            (
                "threads = true",
                "`true` must be a whole number, such as 1_000",
            ),
            ("warmup = \"1s\"", "the key `threads` is missing"),
        ] {
            let error = refused(text);
            assert!(error.ends_with(reason), "{error}");
        }
    }

    #[test]
    fn rubbish_is_one_line() {
        let error = refused("threads = [\n");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.starts_with("line "), "{error}");
    }
}
