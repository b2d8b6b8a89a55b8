//! TOML as users write it: errors in one line, with their place and a suggestion.

use serde::de::DeserializeOwned;

use crate::nearest;

/// Reads `text`; an error says line, reason and, for a wrong name, the nearest right one.
///
/// # Errors
/// If the text is no TOML or does not fit the type.
pub fn parse_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error: toml::de::Error| one_line(&error, text))
}

fn one_line(error: &toml::de::Error, text: &str) -> String {
    let place = error
        .span()
        .map(|span| 1 + text[..span.start].matches('\n').count());
    let place = place
        .map(|line| format!("line {line}: "))
        .unwrap_or_default();
    let reason = error.message().lines().collect::<Vec<_>>().join(" ");
    match suggestion(error.message()) {
        Some(name) => format!("{place}{reason}; did you mean `{name}`?"),
        None => format!("{place}{reason}"),
    }
}

/// serde says "unknown field `wrong`, expected one of `a`, `b`": the nearest of the expected.
fn suggestion(message: &str) -> Option<&str> {
    message.starts_with("unknown ").then_some(())?;
    let mut names = message.split('`').skip(1).step_by(2);
    nearest(names.next()?, names)
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
    }

    #[test]
    fn a_wrong_name_has_its_line_and_the_nearest_right_one() {
        let error = parse_toml::<File>("\nthread = 3\n").unwrap_err();
        assert_eq!(
            error,
            "line 2: unknown field `thread`, expected `threads` or `warmup`; did you mean `threads`?"
        );
    }

    #[test]
    fn rubbish_is_one_line() {
        let error = parse_toml::<File>("threads = [\n").unwrap_err();
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.starts_with("line "), "{error}");
    }
}
