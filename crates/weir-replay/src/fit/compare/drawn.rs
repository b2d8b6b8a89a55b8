//! The load of a workload: its transactions, drawn as the load engine draws them.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use weir_capture::TransactionStep;
use weir_workload::{DrawnValue, Generator, Script, Value, seeded};

use crate::fit::load_profile::{LoadProfile, Mark, ProfiledStatement};
use crate::fit::workload_form::{Expression, Form};

/// Transactions that are drawn.
const DRAWN: u64 = 20_000;

/// A workload as a profile.
pub(super) struct WorkloadProfile {
    pub(super) profile: LoadProfile,
    /// Values whose places mean nothing: keys that are scattered, texts.
    pub(super) scattered: HashSet<(String, usize)>,
}

/// Draws transactions as a connection does.
pub(super) fn drawn(script: &Script, forms: &[Form]) -> WorkloadProfile {
    let mut rng = seeded(1, 0);
    let mut drawn = WorkloadProfile {
        profile: LoadProfile::default(),
        scattered: HashSet::new(),
    };
    let steps: Vec<TransactionStep> = script
        .statements
        .iter()
        .map(|statement| weir_capture::transaction_step(statement.sql(0).as_bytes()))
        .collect();
    for _ in 0..DRAWN {
        let mut asked = Vec::new();
        for statement in script.draw(&mut rng) {
            if steps[statement.statement] != TransactionStep::None {
                continue;
            }
            let form = &forms[statement.statement];
            let values: Vec<_> = statement.values.iter().map(mark).collect();
            let values = evaluated(&form.values, &values);
            for (position, (_, is_scattered)) in values.iter().enumerate() {
                if *is_scattered {
                    drawn.scattered.insert((form.fingerprint.clone(), position));
                }
            }
            asked.push(ProfiledStatement {
                fingerprint: form.fingerprint.clone(),
                values: values.into_iter().map(|(mark, _)| mark).collect(),
            });
        }
        drawn.profile.take(&asked);
    }
    drawn
}

/// A value, and whether its place means nothing.
fn mark(value: &DrawnValue<'_>) -> (Mark, bool) {
    let is_scattered = match value.source {
        Generator::Key(keys) | Generator::Integer { keys, .. } => keys.is_scattered(),
        _ => true,
    };
    let mark = match (value.source, value.get()) {
        // Letters that no search needs are not those of the capture.
        (Generator::Now | Generator::Letters(..), _) => Mark::Unknown,
        (_, Value::Integer(number)) => Mark::Number(number),
        (_, Value::Text(text)) => {
            let mut hasher = DefaultHasher::new();
            text.hash(&mut hasher);
            Mark::Text(hasher.finish())
        }
    };
    (mark, is_scattered)
}

fn evaluated(expressions: &[Expression], parameters: &[(Mark, bool)]) -> Vec<(Mark, bool)> {
    let unknown = (Mark::Unknown, true);
    let mut parameters = parameters.iter().copied();
    let mut next = || parameters.next().unwrap_or(unknown);
    let values = expressions.iter().map(|expression| match expression {
        Expression::Fixed => unknown,
        Expression::Constant(number) => (Mark::Number(*number), true),
        Expression::Parameter => next(),
        Expression::Plus(more) => match next() {
            (Mark::Number(number), is_scattered) => {
                (Mark::Number(number.saturating_add(*more)), is_scattered)
            }
            _ => unknown,
        },
        Expression::Sum => match (next(), next()) {
            ((Mark::Number(a), is_scattered), (Mark::Number(b), _)) => {
                (Mark::Number(a.saturating_add(b)), is_scattered)
            }
            _ => unknown,
        },
    });
    values.collect()
}
