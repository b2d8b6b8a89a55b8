//! Options that a script declares: their kinds, their values, their list in the help.

use std::fmt::Write as _;

use crate::lua::ScriptError;

/// Type of an option; the numbers are those of `sysbench.cmdline.ARG_*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// A switch.
    Bool = 1,
    /// A whole number.
    Integer = 2,
    /// Bytes, with K, M, G or T of 1,024.
    Size = 3,
    /// A number.
    Double = 4,
    /// Any text.
    Text = 5,
    /// Texts between commas.
    List = 6,
    /// The name of a file.
    File = 7,
}

impl OptionKind {
    /// The kind of this number.
    pub fn from_number(number: i64) -> Option<Self> {
        [
            Self::Bool,
            Self::Integer,
            Self::Size,
            Self::Double,
            Self::Text,
            Self::List,
            Self::File,
        ]
        .into_iter()
        .find(|kind| *kind as i64 == number)
    }

    const fn form(self) -> &'static str {
        match self {
            Self::Bool => "[=on|off]",
            Self::Integer | Self::Double => "=N",
            Self::Size => "=SIZE",
            Self::Text => "=STRING",
            Self::List => "=[LIST,...]",
            Self::File => "=FILENAME",
        }
    }
}

/// An option that a script declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptOption {
    /// As declared.
    pub name: String,
    /// For the help.
    pub description: String,
    /// As a command line would have it.
    pub default: Option<String>,
    /// Type of the option.
    pub kind: OptionKind,
}

/// An option's value, as `sysbench.opt` has it.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionValue {
    /// None.
    Nil,
    /// Of a switch.
    Bool(bool),
    /// Of whole numbers, sizes and numbers.
    Number(f64),
    /// Of a text.
    Text(String),
    /// Of a list.
    List(Vec<String>),
}

impl ScriptOption {
    /// The value that is written `text`; `None` is the option without `=`.
    ///
    /// # Errors
    ///
    /// A text that does not fit the option's kind.
    pub fn value(&self, text: Option<&str>) -> Result<OptionValue, ScriptError> {
        let given = text.unwrap_or_default();
        let invalid = || {
            let name = &self.name;
            ScriptError::Value(format!("Invalid value for the '{name}' option: '{given}'"))
        };
        Ok(match self.kind {
            OptionKind::Bool => match text {
                None | Some("on" | "true" | "1") => OptionValue::Bool(true),
                Some("off" | "false" | "0") => OptionValue::Bool(false),
                Some(_) => {
                    let name = &self.name;
                    return Err(ScriptError::Value(format!(
                        "invalid option: --{name}={given}"
                    )));
                }
            },
            OptionKind::Integer if given.is_empty() => OptionValue::Number(0.0),
            OptionKind::Integer => {
                let number = given.parse::<i64>().map_err(|_| invalid())?;
                OptionValue::Number(number as f64)
            }
            OptionKind::Size => OptionValue::Number(size(given)),
            OptionKind::Double => OptionValue::Number(leading_number(given)),
            OptionKind::Text => OptionValue::Text(given.to_owned()),
            OptionKind::List if given.is_empty() => OptionValue::List(Vec::new()),
            OptionKind::List => OptionValue::List(given.split(',').map(str::to_owned).collect()),
            OptionKind::File => OptionValue::Nil,
        })
    }

    /// The value that it has without being set.
    ///
    /// # Errors
    ///
    /// A declared default that does not fit the option's kind.
    pub fn default_value(&self) -> Result<OptionValue, ScriptError> {
        match (&self.default, self.kind) {
            // As sysbench 1.0.20 has it, a switch without a default is on.
            (None, OptionKind::Bool) => Ok(OptionValue::Bool(true)),
            (default, _) => self.value(Some(default.as_deref().unwrap_or_default())),
        }
    }
}

/// Digits and a letter for a power of 1,024; 0 with another letter.
fn size(text: &str) -> f64 {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number = text[..end].parse::<f64>().unwrap_or(0.0);
    let power = match &text[end..] {
        "" => 0,
        "K" | "k" => 1,
        "M" | "m" => 2,
        "G" | "g" => 3,
        "T" | "t" => 4,
        _ => return 0.0,
    };
    number * 1024_f64.powi(power)
}

/// As `strtod(3)` for decimal numbers: what follows the number is ignored.
fn leading_number(text: &str) -> f64 {
    let mut ends = text.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
    ends.find_map(|end| text[..end].trim_start().parse().ok())
        .unwrap_or(0.0)
}

/// The options' lines in the help, by the bytes of their names, and an empty line.
pub fn option_list(options: &[ScriptOption]) -> String {
    let mut lines: Vec<_> = options
        .iter()
        .map(|option| (format!("--{}{}", option.name, option.kind.form()), option))
        .collect();
    lines.sort_by(|(_, one), (_, other)| one.name.cmp(&other.name));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, option) in lines {
        let default = option.default.as_ref();
        let default = default.map_or_else(String::new, |default| format!(" [{default}]"));
        let description = &option.description;
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {name:<width$} {description}{default}");
    }
    text.push('\n');
    text
}
