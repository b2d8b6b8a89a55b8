use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::*;
use crate::Pace;

fn open() -> LoadSpec {
    LoadSpec {
        pace: Pace::open(100.0),
        ..LoadSpec::default()
    }
}

/// `option` = `value` on a closed loop and on an open one, where it can be set: before and after.
fn on_both(option: &LoadOption, value: &str) -> Vec<(LoadSpec, LoadSpec)> {
    let loops = [LoadSpec::default(), open()];
    let set = loops.into_iter().filter_map(|before| {
        let mut load = before.clone();
        option.set(&mut load, value).ok().map(|()| (before, load))
    });
    set.collect()
}

/// The same on the closed loop, unless it belongs to an open one.
fn with(option: &LoadOption, value: &str) -> (LoadSpec, LoadSpec) {
    on_both(option, value).swap_remove(0)
}

#[test]
fn a_default_changes_nothing() {
    for option in LOAD_OPTIONS {
        let (before, after) = with(option, option.default);
        assert_eq!(before, after, "{}", option.name);
        assert_eq!(
            option.written(&LoadSpec::default()),
            None,
            "{}",
            option.name
        );
    }
}

#[test]
fn what_is_set_is_written_as_it_was_and_told() {
    for option in LOAD_OPTIONS {
        let value = option.kind.example();
        let (before, after) = with(option, value);
        assert_ne!(before, after, "{}", option.name);
        assert_eq!(option.written(&after).as_deref(), Some(value));
        assert!(option.report_text.contains("{}"), "{}", option.name);
    }
}

#[test]
fn every_word_is_a_value() {
    for option in LOAD_OPTIONS {
        let LoadOptionKind::Word(words) = option.kind else {
            continue;
        };
        for word in words {
            let (_, load) = with(option, &word.to_uppercase());
            let is_usual = *word == option.default;
            assert_eq!(option.written(&load).is_none(), is_usual, "{word}");
        }
    }
}

#[test]
fn what_is_no_value_is_told_what_it_must_be() {
    for option in LOAD_OPTIONS {
        for wrong in ["", "x", "-1", "1..2"] {
            let why = option.check(wrong).unwrap_err();
            assert!(why.starts_with("must be "), "{}: {why}", option.name);
        }
    }
    let tls = LoadOption::by_name("tls").unwrap().check("on").unwrap_err();
    assert_eq!(
        tls,
        "must be disabled, preferred, required, verify_ca or verify_identity"
    );
}

#[test]
fn a_rate_and_what_waits_for_a_transactions_end_exclude_each_other() {
    for name in ["think_time", "pacing"] {
        let option = LoadOption::by_name(name).unwrap();
        let why = option.set(&mut open(), "1s").unwrap_err();
        assert!(why.contains("leave one of both out"), "{why}");
        option.set(&mut open(), "0s").unwrap();
        let (_, mut waits) = with(option, "1s");
        for (rate, value) in [("rate", "5"), ("rate_ramp", "1..2:3s")] {
            let rate = LoadOption::by_name(rate).unwrap();
            let why = rate.set(&mut waits, value).unwrap_err();
            assert!(why.contains("leave one of both out"), "{why}");
        }
    }
    let arrivals = LoadOption::by_name("rate_arrivals").unwrap();
    let why = arrivals.set(&mut LoadSpec::default(), "constant");
    assert_eq!(why, Err("needs a rate; add `rate`".to_owned()));
}

/// Paths of the fields that both have with another value.
fn differing(path: &str, first: &Value, second: &Value, found: &mut BTreeSet<String>) {
    match (first, second) {
        (Value::Object(one), Value::Object(other)) => {
            for (name, value) in one {
                let other = other.get(name).unwrap_or(value);
                differing(&format!("{path}.{name}"), value, other, found);
            }
            // What is as usual may be left out of the first.
            for (name, value) in other.iter().filter(|(name, _)| !one.contains_key(*name)) {
                fields(&format!("{path}.{name}"), value, found);
            }
        }
        _ if first != second => {
            found.insert(path.to_owned());
            fields(path, second, found);
        }
        _ => {}
    }
}

/// Paths of all fields of a load.
fn fields(path: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields_of) => {
            for (name, value) in fields_of {
                fields(&format!("{path}.{name}"), value, found);
            }
        }
        _ => {
            found.insert(path.to_owned());
        }
    }
}

/// A field that is added to a load and has no option fails here: no study could set it, and no rule would see it.
#[test]
fn every_field_of_a_load_is_set_by_an_option() {
    let json = |load: &LoadSpec| serde_json::to_value(load).unwrap();
    let (mut set, mut all) = (BTreeSet::new(), BTreeSet::new());
    for option in LOAD_OPTIONS {
        for (before, after) in on_both(option, option.kind.example()) {
            differing("load", &json(&before), &json(&after), &mut set);
            fields("load", &json(&before), &mut all);
            fields("load", &json(&after), &mut all);
        }
    }
    let others = [
        "load.connections",
        "load.warmup.kind",
        "load.warmup.length",
        "load.measure",
    ];
    set.extend(others.map(str::to_owned));
    assert_eq!(
        all.difference(&set).collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
}

/// The part of the reference between its two marks.
fn reference() -> String {
    let mut text = "| key | values | default | meaning |\n|---|---|---|---|\n".to_owned();
    for option in LOAD_OPTIONS {
        let LoadOption {
            name,
            kind,
            default,
            help,
            has_flag,
            ..
        } = option;
        let values = match kind {
            LoadOptionKind::Time => "time".to_owned(),
            LoadOptionKind::Count => "number".to_owned(),
            LoadOptionKind::Word(words) => format!("`{}`", words.join("`, `")),
            LoadOptionKind::Rate => format!("number, `{CLOSED_LOOP}`"),
            LoadOptionKind::Label => "`KEY=VALUE`, `any`".to_owned(),
            LoadOptionKind::Ramp => format!("`FROM..TO:TIME`, `{NO_RAMP}`"),
        };
        let flag = if *has_flag { "" } else { " \\*" };
        writeln!(text, "| `{name}`{flag} | {values} | `{default}` | {help} |").unwrap();
    }
    text
}

#[test]
fn the_reference_is_what_the_table_says() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/study-reference.md");
    const BEGIN: &str = "<!-- begin: made by `make reference` -->\n";
    const END: &str = "<!-- end -->\n";
    let kept = std::fs::read_to_string(FILE).unwrap();
    let (before, rest) = kept.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let wanted = format!("{before}{BEGIN}{}{END}{after}", reference());
    if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
        std::fs::write(FILE, &wanted).unwrap();
        return;
    }
    assert!(
        kept == wanted,
        "docs/study-reference.md is out of date; run `make reference`"
    );
}
