//! The options of a replay, one table: keys of `[load]`, names of factors, differences that rules see, and the
//! set-up in a report.

use super::ReplaySpec;
use crate::{Duration, UnitError};

/// An option of a replay.
#[derive(Debug, Clone, Copy)]
pub struct ReplayOption {
    /// Key in `[load]` and name as a factor.
    pub name: &'static str,
    /// The value that changes nothing.
    pub default: &'static str,
    /// Another value.
    pub example: &'static str,
    /// Permitted values and effect, in the reference.
    pub help: &'static str,
    get: fn(&ReplaySpec) -> String,
    set: fn(&mut ReplaySpec, &str) -> Result<(), String>,
}

/// All of them.
pub const REPLAY_OPTIONS: &[ReplayOption] = &[
    ReplayOption {
        name: "pace",
        default: "captured",
        example: "fast",
        help: "`captured`: due when it was; `think`: as long after the last answer; `fast`: at once",
        get: |replay| replay.pace.to_string(),
        set: |replay, value| {
            replay.pace = value.parse()?;
            Ok(())
        },
    },
    ReplayOption {
        name: "speed",
        default: "1",
        example: "2",
        help: "times of the capture are divided by it",
        get: |replay| replay.speed.to_string(),
        set: |replay, value| {
            let speed = value.parse().ok();
            let speed = speed.filter(|speed: &f64| *speed > 0.0 && speed.is_finite());
            replay.speed = speed.ok_or("must be a number above 0")?;
            Ok(())
        },
    },
    ReplayOption {
        name: "order",
        default: "session",
        example: "commit",
        help: "`session`: only the clock orders sessions; `commit`: writing transactions end in the capture's order",
        get: |replay| replay.order.to_string(),
        set: |replay, value| {
            replay.order = value.parse()?;
            Ok(())
        },
    },
    ReplayOption {
        name: "filter",
        default: "all",
        example: "reads",
        help: "`all`, `reads` or `writes`: transactions that only read, or that write, each whole",
        get: |replay| replay.filter.to_string(),
        set: |replay, value| {
            replay.filter = value.parse()?;
            Ok(())
        },
    },
    ReplayOption {
        name: "from",
        default: "0s",
        example: "20ms",
        help: "time of the capture; transactions that begin earlier are left out",
        get: |replay| replay.from.to_string(),
        set: |replay, value| {
            let from: Result<Duration, UnitError> = value.parse();
            replay.from = from.map_err(|error| error.to_string())?;
            Ok(())
        },
    },
    ReplayOption {
        name: "sessions",
        default: "100%",
        example: "25%",
        help: "share of the sessions, each whole",
        get: |replay| format!("{}%", replay.sessions * 100.0),
        set: |replay, value| {
            let share = value.strip_suffix('%').unwrap_or_default().parse().ok();
            let share = share.filter(|share: &f64| *share > 0.0 && *share <= 100.0);
            replay.sessions = share.ok_or("must be a share such as 25%")? / 100.0;
            Ok(())
        },
    },
    ReplayOption {
        name: "captured_user",
        default: "",
        example: "app",
        help: "only sessions of this account",
        get: |replay| replay.user.clone(),
        set: |replay, value| {
            value.clone_into(&mut replay.user);
            Ok(())
        },
    },
    ReplayOption {
        name: "captured_schema",
        default: "",
        example: "shop",
        help: "only statements of this schema; by default that of most statements",
        get: |replay| replay.schema.clone(),
        set: |replay, value| {
            value.clone_into(&mut replay.schema);
            Ok(())
        },
    },
];

impl ReplayOption {
    /// The option of this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        REPLAY_OPTIONS.iter().find(|option| option.name == name)
    }

    /// Returns the value in `replay`, as one writes it; `None`: as usual.
    pub fn written(&self, replay: &ReplaySpec) -> Option<String> {
        let value = (self.get)(replay);
        (value != self.default).then_some(value)
    }

    /// Gives `replay` this value.
    ///
    /// # Errors
    /// If the value is none of the option; the error says what it must be.
    pub fn set(&self, replay: &mut ReplaySpec, value: &str) -> Result<(), String> {
        (self.set)(replay, value.trim())
    }
}

/// By name: there is one of each.
impl PartialEq for ReplayOption {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ReplayOption {}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn what_is_set_is_written_as_it_was_and_a_default_changes_nothing() {
        for option in REPLAY_OPTIONS {
            let mut replay = ReplaySpec::default();
            option.set(&mut replay, option.default).unwrap();
            assert_eq!(replay, ReplaySpec::default(), "{}", option.name);
            option.set(&mut replay, option.example).unwrap();
            assert_eq!(option.written(&replay).as_deref(), Some(option.example));
        }
        for (name, wrong) in [
            ("pace", "slow"),
            ("speed", "0"),
            ("sessions", "0%"),
            ("sessions", "25"),
            ("order", "x"),
            ("from", "9"),
        ] {
            let option = ReplayOption::by_name(name).unwrap();
            let why = option.set(&mut ReplaySpec::default(), wrong).unwrap_err();
            assert!(!why.is_empty(), "{name}");
        }
    }

    /// The part of the reference that is made from the table.
    #[test]
    fn the_reference_is_what_the_table_of_replays_says() {
        const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/study-reference.md");
        const BEGIN: &str = "<!-- begin replay: made by `make reference` -->\n";
        const END: &str = "<!-- end replay -->\n";
        let kept = std::fs::read_to_string(FILE).unwrap();
        let (before, rest) = kept.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let mut table = "| key | default | meaning |\n|---|---|---|\n".to_owned();
        for ReplayOption {
            name,
            default,
            help,
            ..
        } in REPLAY_OPTIONS
        {
            let default = if default.is_empty() {
                String::new()
            } else {
                format!("`{default}`")
            };
            writeln!(table, "| `{name}` | {default} | {help} |").unwrap();
        }
        let wanted = format!("{before}{BEGIN}{table}{END}{after}");
        if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
            std::fs::write(FILE, &wanted).unwrap();
            return;
        }
        assert!(
            kept == wanted,
            "docs/study-reference.md is out of date; run `make reference`"
        );
    }
}
