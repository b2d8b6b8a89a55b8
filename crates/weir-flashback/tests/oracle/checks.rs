//! What Weir says of the past beside what the server held.

use std::collections::BTreeMap;

use weir_flashback::{FlashbackError, FlashbackPlan, MomentRequest};
use weir_testing::Random;

use crate::history::History;
use crate::subject::{HistoryRecord, Subject};
use crate::truth::Truth;
use crate::{changes, undo};

/// What was asked of one history.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Answers that were compared, by what was asked.
    pub(crate) answers: BTreeMap<&'static str, usize>,
    /// Refusals, by reason.
    pub(crate) refusals: BTreeMap<String, usize>,
    /// Answers of tables that have changed since.
    pub(crate) moved: usize,
    /// Values of which the log has only a part, as the answer says.
    pub(crate) untold: usize,
    /// What is not so: what was asked and in what it differs.
    pub(crate) findings: Vec<(&'static str, String)>,
}

impl Outcome {
    pub(crate) fn answered(&mut self, what: &'static str) {
        *self.answers.entry(what).or_default() += 1;
    }

    pub(crate) fn finds(&mut self, what: &'static str, text: String) {
        self.findings.push((what, text));
    }

    /// A refusal with a reason and a remedy; any other error is a finding.
    pub(crate) fn refused(&mut self, what: &'static str, error: &FlashbackError) {
        let text = error.to_string();
        let is_plain = matches!(
            error,
            FlashbackError::Refused { .. } | FlashbackError::Unsettled { .. }
        );
        if !is_plain || text.lines().count() != 1 {
            return self.finds(what, format!("no refusal with a remedy: {text}"));
        }
        if std::env::var_os("WEIR_FLASHBACK_SHOW").is_some() {
            println!("{what} refused: {text}");
        }
        *self
            .refusals
            .entry(format!("{what}: {}", reason(&text)))
            .or_default() += 1;
    }
}

/// One answer in so many is asked for again with a condition.
const WHERE: usize = 5;
/// Names of tables as refusals have them.
const NAMES: [&str; 7] = [
    "shop.or`der \u{e9}",
    "or`der \u{e9}",
    "shop.or`der",
    "shop.t",
    "shop.T",
    "shop.p",
    "crm.t",
];

/// A refusal up to the first name or statement, without numbers.
fn reason(text: &str) -> String {
    let mut text = text.to_owned();
    for name in NAMES {
        text = text.replace(name, "T");
    }
    let plain = text.split('`').next().unwrap_or_default();
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    let mut short: String = plain.chars().map(digits).collect();
    while short.contains("00") {
        short = short.replace("00", "0");
    }
    for (from, to) in [
        (" at binlog", " has"),
        ("statement at ", "Z, "),
        (" (", ")"),
    ] {
        if let Some((before, after)) = short.split_once(from) {
            let rest = after.split_once(to).map_or(after, |(_, rest)| rest);
            short = format!("{before}{from}..{rest}");
        }
    }
    short.chars().take(100).collect()
}

/// Asks for each moment in one of the ways to name it.
pub(crate) fn check(
    subject: &Subject,
    history: &History,
    lived: &HistoryRecord,
    random: &mut Random,
) -> Outcome {
    let mut outcome = Outcome::default();
    for moment in &lived.moments {
        for table in &history.tables {
            let key = (table.0.to_owned(), table.1.to_owned());
            // A table that is gone is not asked about: the command says that it is not there.
            if !lived.now.contains_key(&key) {
                continue;
            }
            let asked = &moment.asked[random.below(moment.asked.len())];
            let prepared = match subject.prepare(table, asked) {
                Ok(prepared) => prepared,
                Err(error) => {
                    outcome.refused("as of", &error);
                    continue;
                }
            };
            let then = moment.world.get(&key);
            let is_equal = as_of(subject, &prepared, then, asked, &mut outcome);
            outcome.moved += usize::from(is_equal && then != lived.now.get(&key));
            if is_equal && random.once_in(WHERE) {
                some(subject, &prepared, &condition(random), &mut outcome);
            }
            if !prepared.tables[0].is_keyless {
                changes::check(&prepared, then, &lived.now[&key], &mut outcome);
            }
        }
    }
    // Last, since it changes the server.
    undo::check(subject, history, lived, random, &mut outcome);
    outcome
}

/// Whether it was answered, and right.
fn as_of(
    subject: &Subject,
    prepared: &FlashbackPlan,
    then: Option<&Truth>,
    asked: &MomentRequest,
    outcome: &mut Outcome,
) -> bool {
    let name = &prepared.tables[0].name;
    let found = match subject.flash(prepared, "") {
        Ok(found) => found,
        Err(error) => {
            outcome.refused("as of", &error);
            return false;
        }
    };
    outcome.answered("as of");
    let difference = match then {
        None => Some("it was not there".to_owned()),
        Some(then) => then.difference(&found),
    };
    let is_equal = difference.is_none();
    if let Some(difference) = difference {
        outcome.finds("as of", format!("{name}, {asked:?}: {difference}"));
    }
    is_equal
}

fn condition(random: &mut Random) -> String {
    let id = random.below(12);
    let conditions = [
        format!(" WHERE id = {id}"),
        format!(" WHERE id < {id}"),
        format!(" WHERE id IN ({id}, {})", id + 12),
        " WHERE id IS NULL".to_owned(),
    ];
    conditions[random.below(conditions.len())].clone()
}

/// Of all rows those of a condition, and those that are asked for by it, are the same.
fn some(subject: &Subject, prepared: &FlashbackPlan, clause: &str, outcome: &mut Outcome) {
    let all = subject.selected(prepared, clause);
    let found = subject.flash(prepared, clause);
    match found {
        Ok(_) => outcome.answered("as of, with a condition"),
        Err(error) => return outcome.refused("as of", &error),
    }
    if let Some(difference) = all.difference(&subject.selected(prepared, clause)) {
        outcome.finds("as of, with a condition", format!("{clause}: {difference}"));
    }
}
