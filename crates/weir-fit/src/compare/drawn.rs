//! The load of a workload: its transactions, drawn as the load engine draws them.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use weir_capture::TransactionStep;
use weir_workload::{Drawer, Generator, Parameter, Rng, Script, Step, Value, seeded};

use crate::load_profile::{Asked, LoadProfile, Mark};
use crate::workload_form::{Expression, Form};

/// Transactions that are drawn.
const DRAWN: u64 = 20_000;

/// A workload as a profile.
pub(super) struct Drawn {
    pub(super) profile: LoadProfile,
    /// Values whose places mean nothing: keys that are scattered, texts.
    pub(super) scattered: HashSet<(String, usize)>,
}

/// Draws transactions as a connection does.
pub(super) fn drawn(script: &Script, forms: &[Form]) -> Drawn {
    let mut rng = seeded(1, 0);
    let mut drawn = Drawn {
        profile: LoadProfile::default(),
        scattered: HashSet::new(),
    };
    let steps: Vec<TransactionStep> = script
        .statements
        .iter()
        .map(|statement| weir_capture::transaction_step(statement.sql(0).as_bytes()))
        .collect();
    for _ in 0..DRAWN {
        let transaction = &script.transactions[script.choose(&mut rng)];
        let mut slots: HashMap<usize, (Mark, bool)> = HashMap::new();
        let mut asked = Vec::new();
        for step in &transaction.steps {
            let Step::Execute(execution) = step else {
                continue;
            };
            for (slot, generator) in &execution.draws {
                slots.insert(*slot, draw(generator, &mut rng));
            }
            let statement = &script.statements[execution.statement];
            let values: Vec<(Mark, bool)> = statement
                .parameters
                .iter()
                .map(|parameter| match parameter {
                    Parameter::Draw(generator) => draw(generator, &mut rng),
                    Parameter::Slot(slot, _) | Parameter::SlotPlus(slot, _) => {
                        slots.get(slot).copied().unwrap_or((Mark::Unknown, true))
                    }
                })
                .collect();
            if steps[execution.statement] != TransactionStep::None {
                continue;
            }
            let form = &forms[execution.statement];
            let values = evaluated(&form.values, &values);
            for (position, (_, is_scattered)) in values.iter().enumerate() {
                if *is_scattered {
                    drawn.scattered.insert((form.fingerprint.clone(), position));
                }
            }
            asked.push(Asked {
                fingerprint: form.fingerprint.clone(),
                values: values.into_iter().map(|(mark, _)| mark).collect(),
            });
        }
        drawn.profile.take(&asked);
    }
    drawn
}

/// A value, and whether its place means nothing.
fn draw(generator: &Generator, rng: &mut Rng) -> (Mark, bool) {
    let mut scratch = Vec::new();
    let drawer = Drawer::default();
    let is_scattered = match generator {
        Generator::Key(keys) | Generator::Integer { keys, .. } => keys.is_scattered(),
        _ => true,
    };
    let mark = match (generator, generator.draw(drawer, rng, &mut scratch)) {
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
