//! The published claims and their counts, written from the studies and from `measured-claims.toml`.

use std::fmt::Write as _;
use std::fs;

use toml::{Table, Value};

use self::ClaimValue::{Above, Below, Ratio};
use super::root;

/// Place of the table: between these lines of the studies' page.
const BEGIN: &str = "<!-- claims: begin; a test writes this -->\n";
const END: &str = "<!-- claims: end -->\n";
/// An effect inside this range is "about equal".
const EQUAL: (f64, f64) = (0.9, 1.1);

/// A published number: the ratio, or a bound of it.
#[derive(Clone, Copy)]
enum ClaimValue {
    Ratio(f64),
    Above(f64),
    Below(f64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Agrees,
    /// The same direction.
    OtherSize,
    /// The other direction, or an effect where none was published.
    OtherWay,
    /// The interval does not tell.
    Open,
    NotTested,
}

struct Row {
    says: String,
    published: ClaimValue,
    /// Ratio with the ends of its interval.
    measured: Option<[f64; 3]>,
    why: String,
}

impl Row {
    fn outcome(&self) -> Outcome {
        let Some([ratio, low, high]) = self.measured else {
            return Outcome::NotTested;
        };
        let has_effect = low > 1.0 || high < 1.0;
        let sided = |holds: bool, refuted: bool, edge: f64| match (holds, refuted) {
            (true, _) => Outcome::Agrees,
            (_, true)
                if has_effect
                    && (edge > 1.0) == (ratio > 1.0)
                    && (edge - 1.0).abs() > f64::EPSILON =>
            {
                Outcome::OtherSize
            }
            (_, true) => Outcome::OtherWay,
            _ => Outcome::Open,
        };
        match self.published {
            Above(edge) => sided(low > edge, high < edge, edge),
            Below(edge) => sided(high < edge, low > edge, edge),
            Ratio(1.0) if low >= EQUAL.0 && high <= EQUAL.1 => Outcome::Agrees,
            Ratio(1.0) if has_effect => Outcome::OtherWay,
            Ratio(_) if !has_effect => Outcome::Open,
            Ratio(value) if low <= value && value <= high => Outcome::Agrees,
            Ratio(value) if (value > 1.0) == (ratio > 1.0) => Outcome::OtherSize,
            Ratio(_) => Outcome::OtherWay,
        }
    }

    fn words(&self) -> String {
        let published = match self.published {
            Ratio(value) => format!("{value}x"),
            Above(value) => format!("above {value}x"),
            Below(value) => format!("below {value}x"),
        };
        let measured = self.measured.map_or("-".to_owned(), |[ratio, low, high]| {
            format!("{ratio}x ({low} to {high})")
        });
        let outcome = match (self.outcome(), self.measured, self.published) {
            (Outcome::Agrees, ..) => "agrees".to_owned(),
            (Outcome::OtherSize, Some([ratio, ..]), Ratio(value)) => {
                if (ratio - 1.0).abs() > (value - 1.0).abs() {
                    "larger".to_owned()
                } else {
                    "smaller".to_owned()
                }
            }
            (Outcome::OtherSize, ..) => "another size".to_owned(),
            (Outcome::OtherWay, _, Ratio(1.0)) => "an effect".to_owned(),
            (Outcome::OtherWay, ..) => "the other way round".to_owned(),
            (Outcome::Open, ..) => "cannot say".to_owned(),
            (Outcome::NotTested, ..) => format!("not tested: {}", self.why),
        };
        format!("| {} | {published} | {measured} | {outcome} |\n", self.says)
    }
}

fn table(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).unwrap();
    text.parse()
        .unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn text(table: &Table, key: &str) -> Option<String> {
    Some(table.get(key)?.as_str()?.to_owned())
}

/// Where a claim was published: its levels of other factors, in parentheses.
fn place(claim: &Table) -> String {
    let Some(levels) = claim.get("where").and_then(Value::as_table) else {
        return String::new();
    };
    let levels = levels.iter().map(|(factor, level)| match level.as_str() {
        Some(level) => format!("{factor} {level}"),
        None => format!("{factor} {level}"),
    });
    format!(" ({})", levels.collect::<Vec<_>>().join(", "))
}

fn number(value: &Value) -> Option<f64> {
    value
        .as_float()
        .or_else(|| value.as_integer().map(|whole| whole as f64))
}

fn published(value: &Value) -> ClaimValue {
    if let Some(ratio) = number(value) {
        return Ratio(ratio);
    }
    let words = value.as_str().expect("a number, or `< 1`");
    let edge = |sign: char| words.strip_prefix(sign)?.trim().parse().ok();
    match (edge('<'), edge('>')) {
        (Some(edge), _) => Below(edge),
        (_, Some(edge)) => Above(edge),
        _ => panic!("{words}: neither `< number` nor `> number`"),
    }
}

/// The claims of each study, by its name.
fn studies() -> Vec<(String, Vec<Row>)> {
    let measured = table("docs/studies/measured-claims.toml");
    let studies = measured["study"].as_array().unwrap().iter();
    let studies = studies.map(|study| {
        let study = study.as_table().unwrap();
        let name = text(study, "name").unwrap();
        let claims = table(&format!("studies/{name}.toml"));
        let claims = claims["claims"].as_array().unwrap().clone();
        let found = study["claims"].as_array().unwrap();
        assert_eq!(
            claims.len(),
            found.len(),
            "measured-claims.toml has another number of claims than studies/{name}.toml"
        );
        let rows = claims.iter().zip(found).map(|(claim, found)| {
            let (claim, found) = (claim.as_table().unwrap(), found.as_table().unwrap());
            let end = |key: &str| found.get(key).and_then(number);
            let ends = [end("ratio"), end("low"), end("high")];
            let why = text(claim, "untestable").or_else(|| text(found, "why"));
            Row {
                says: text(claim, "says").unwrap() + &place(claim),
                published: published(&claim["value"]),
                measured: match ends {
                    [Some(ratio), Some(low), Some(high)] => Some([ratio, low, high]),
                    _ => None,
                },
                why: why.unwrap_or_default(),
            }
        });
        (name, rows.collect())
    });
    studies.collect()
}

fn count(studies: &[(String, Vec<Row>)], outcome: Outcome) -> usize {
    let rows = studies.iter().flat_map(|(_, rows)| rows);
    rows.filter(|row| row.outcome() == outcome).count()
}

/// The counts in sentences.
fn sentence(studies: &[(String, Vec<Row>)]) -> String {
    let all: usize = studies.iter().map(|(_, rows)| rows.len()).sum();
    let count = |outcome| count(studies, outcome);
    format!(
        "Of {all} published claims, {} agree here. In {} the direction is as published, but not the size. {} come out \
         another way, {} stay open, and {} are not tested yet.",
        count(Outcome::Agrees),
        count(Outcome::OtherSize),
        count(Outcome::OtherWay),
        count(Outcome::Open),
        count(Outcome::NotTested),
    )
}

/// Breaks words into lines of at most 110 columns; those after the first begin with `indent`.
fn wrapped(words: &str, indent: &str) -> String {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let line = lines.last().unwrap();
        if !line.is_empty() && line.len() + word.len() >= 110 {
            lines.push(format!("{indent}{word}"));
        } else {
            let gap = if line.is_empty() { "" } else { " " };
            let line = lines.last_mut().unwrap();
            *line += gap;
            *line += word;
        }
    }
    lines.join("\n")
}

fn section(studies: &[(String, Vec<Row>)]) -> String {
    let mut section = wrapped(&sentence(studies), "") + "\n";
    for (name, rows) in studies {
        let _ = write!(
            section,
            "\n`{name}`:\n\n| claim | published | measured here | |\n|---|---|---|---|\n"
        );
        section.extend(rows.iter().map(Row::words));
    }
    section
}

/// Replaces what stands between `begin` and `end` in a file, or checks that it is `wanted`.
fn hold(path: &str, begin: &str, end: &str, wanted: &str) {
    let file = root().join(path);
    let text = fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(begin).expect(begin);
    let (found, after) = rest.split_once(end).expect(end);
    if std::env::var_os("WEIR_UPDATE_FIXTURES").is_some() {
        fs::write(&file, [before, begin, wanted, end, after].concat()).unwrap();
        return;
    }
    assert!(
        found == wanted,
        "{path} does not have the claims as they are measured; run `WEIR_UPDATE_FIXTURES=1 cargo nextest run \
         --workspace documented`"
    );
}

#[test]
fn the_documents_have_the_claims_as_measured() {
    let studies = studies();
    hold("docs/studies/README.md", BEGIN, END, &section(&studies));
    let words = format!(
        "{} ([why](docs/studies/README.md)).",
        sentence(&studies).trim_end_matches('.')
    );
    hold(
        "README.md",
        "- Of ",
        "\n- On one host",
        &wrapped(&words, "  ")["Of ".len()..],
    );
}

#[test]
fn an_outcome_follows_from_the_interval() {
    let outcome = |published, measured| {
        let row = Row {
            says: String::new(),
            published,
            measured,
            why: String::new(),
        };
        row.outcome()
    };
    let cases = [
        (Ratio(1.5), Some([1.5, 1.4, 1.6]), Outcome::Agrees),
        (Ratio(1.5), Some([2.0, 1.9, 2.1]), Outcome::OtherSize),
        (Ratio(1.5), Some([0.8, 0.7, 0.9]), Outcome::OtherWay),
        (Ratio(1.5), Some([1.4, 0.9, 1.9]), Outcome::Open),
        (Ratio(1.0), Some([1.0, 0.95, 1.05]), Outcome::Agrees),
        (Ratio(1.0), Some([1.2, 1.1, 1.3]), Outcome::OtherWay),
        (Ratio(1.0), Some([1.0, 0.8, 1.2]), Outcome::Open),
        (Above(1.0), Some([1.2, 1.1, 1.3]), Outcome::Agrees),
        (Above(1.0), Some([0.8, 0.7, 0.9]), Outcome::OtherWay),
        (Below(0.5), Some([0.6, 0.55, 0.65]), Outcome::OtherSize),
        (Below(1.3), Some([1.22, 1.2, 1.24]), Outcome::Agrees),
        (Ratio(1.5), None, Outcome::NotTested),
    ];
    for (published, measured, wanted) in cases {
        assert!(outcome(published, measured) == wanted, "{measured:?}");
    }
}
