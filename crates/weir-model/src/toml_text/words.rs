//! serde's reasons in the words of a file, not of a program.

use crate::nearest;

/// `reason` in plain words; one that serde does not write stays as it is.
pub(super) fn plain(reason: &str) -> String {
    unknown(reason)
        .or_else(|| wrong_type(reason))
        .or_else(|| missing(reason))
        .unwrap_or_else(|| reason.to_owned())
}

/// "unknown field `wrong`, expected one of `a`, `b`": the nearest of these names, else all of them.
fn unknown(reason: &str) -> Option<String> {
    let rest = reason.strip_prefix("unknown ")?;
    let what = match rest.split_once(' ')? {
        ("field", _) => "key",
        ("variant", _) => "value",
        _ => return None,
    };
    let mut names = rest.split('`').skip(1).step_by(2);
    let wrong = names.next()?;
    let known: Vec<_> = names.collect();
    let hint = match nearest(wrong, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "none is known here".to_owned(),
        None => format!("there are `{}`", known.join("`, `")),
    };
    Some(format!("unknown {what} `{wrong}`; {hint}"))
}

/// "invalid type: string "many", expected u64", and the same of a value.
fn wrong_type(reason: &str) -> Option<String> {
    let rest = reason
        .strip_prefix("invalid type: ")
        .or_else(|| reason.strip_prefix("invalid value: "))?;
    let (found, expected) = rest.split_once(", expected ")?;
    let found = match found.split_once(' ') {
        Some(("string", text)) => format!("`{text}`"),
        Some(("integer" | "boolean", value)) => value.to_owned(),
        Some(("floating", value)) => value.trim_start_matches("point ").to_owned(),
        _ if found == "sequence" => "a list".to_owned(),
        _ if found == "map" => "a table".to_owned(),
        _ => found.to_owned(),
    };
    Some(format!("{found} must be {}", wanted(expected, &found)))
}

fn wanted(expected: &str, found: &str) -> String {
    let bare = found.trim_matches('`');
    match expected {
        "a string" if bare.starts_with(|first: char| first.is_ascii_digit()) => {
            format!("text in quotes, with a unit where it needs one, such as \"{bare}s\"")
        }
        "a string" => "text in quotes".to_owned(),
        "a sequence" if found.starts_with('`') => format!("a list, such as [{bare}]"),
        "a sequence" => "a list".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "u8" | "u16" | "u32" | "u64" | "usize" if bare.starts_with('-') => {
            "a whole number that is not negative".to_owned()
        }
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" => {
            "a whole number, such as 1_000".to_owned()
        }
        "f32" | "f64" => "a number".to_owned(),
        _ if expected == "a map" || expected.starts_with("struct ") => "a table".to_owned(),
        _ => expected.to_owned(),
    }
}

/// "missing field `threads`".
fn missing(reason: &str) -> Option<String> {
    let name = reason.strip_prefix("missing field ")?;
    Some(format!("the key {name} is missing"))
}
