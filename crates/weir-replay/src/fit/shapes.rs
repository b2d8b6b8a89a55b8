//! Kinds of transactions: the same statements in the same order. Rare lengths of a repetition join a common one.

use std::collections::HashMap;
use std::path::Path;

use weir_capture::TransactionStep;
use weir_mysql::NameCase;
use weir_workload::{Rng, seeded};

use crate::fit::FitError;
use crate::fit::catalog::Catalog;
use crate::fit::datum::Datum;
use crate::fit::transactions::{ReadCounts, Transaction, each_transaction};

/// Different kinds that are counted.
const COUNTED_MAX: usize = 20_000;
/// Kinds that a workload has, at most.
pub(crate) const KINDS_MAX: usize = 60;
/// Share of time and of transactions that they have at least.
pub(crate) const COVERED: f64 = 0.95;
/// Lengths of one repetition.
const LENGTHS_OF_REPETITION: usize = 4;
/// Longest transaction of a workload, statements.
const STATEMENTS_MAX: usize = 200;
/// Values of a kind that are kept, about.
const DATA_MAX: usize = 150_000;
/// Transactions of a kind whose values are kept, at most.
const SAMPLES_MAX: usize = 20_000;

/// A kind of transaction.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// Numbers of its statements.
    pub(crate) statements: Vec<usize>,
    pub(crate) begins_itself: bool,
    pub(crate) count: u64,
    pub(crate) time_us: u64,
    pub(crate) samples: Vec<Sample>,
}

/// The values of one transaction.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// When each statement began, microseconds since the capture's beginning.
    pub(crate) at_us: Vec<u64>,
    /// The values of all statements, one after the other.
    pub(crate) data: Vec<Datum>,
    /// For each statement, the last number that an `AUTO_INCREMENT` column gave before it.
    pub(crate) insert_ids: Vec<Option<u64>>,
}

/// Shapes of the transactions of a capture.
#[derive(Debug)]
pub(crate) struct Shapes {
    pub(crate) catalog: Catalog,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) counts: ReadCounts,
    /// Transactions with a statement that can be kept.
    pub(crate) all: u64,
    /// Their time, microseconds.
    pub(crate) all_us: u64,
    /// Statements that are not kept: why, how many, and their time.
    pub(crate) left_out: Vec<(String, u64)>,
}

type Key = (Vec<usize>, bool);

#[derive(Default, Clone, Copy)]
struct Tally {
    count: u64,
    time_us: u64,
}

/// Reads a capture's transactions as kinds with samples of their values.
pub(crate) fn shapes(
    path: &Path,
    schema: Option<String>,
    case: NameCase,
) -> Result<Shapes, FitError> {
    let mut catalog = Catalog::new(schema, case);
    each_transaction(path, &mut |transaction| {
        for call in &transaction.calls {
            if let Some(number) = catalog.number(call) {
                catalog.statements[number].count += 1;
            }
        }
    })?;
    catalog.choose_texts();
    let mut tallies: HashMap<Key, Tally> = HashMap::new();
    let (mut all, mut all_us, mut too_many) = (0, 0, 0);
    let counts = each_transaction(path, &mut |transaction| {
        let Some(key) = key(transaction, &mut catalog) else {
            return;
        };
        let time_us = transaction
            .calls
            .iter()
            .filter_map(|call| call.took_us)
            .sum::<u64>();
        all += 1;
        all_us += time_us;
        if tallies.len() >= COUNTED_MAX && !tallies.contains_key(&key)
            || key.0.len() > STATEMENTS_MAX
        {
            too_many += 1;
            return;
        }
        let tally = tallies.entry(key).or_default();
        tally.count += 1;
        tally.time_us += time_us;
    })?;
    let mut left_out = left_out(&catalog);
    let (mut shapes, assigned) = chosen(&catalog, tallies, (all, all_us), &mut left_out);
    if too_many > 0 {
        left_out.push((
            "transactions of more kinds or statements than are counted".to_owned(),
            too_many,
        ));
    }
    sample(path, &mut catalog, &mut shapes, &assigned)?;
    Ok(Shapes {
        catalog,
        shapes,
        counts,
        all,
        all_us,
        left_out,
    })
}

/// The statements of a transaction that a workload can have; `None` if they do nothing.
fn key(transaction: &Transaction, catalog: &mut Catalog) -> Option<Key> {
    let numbers: Vec<usize> = kept(transaction, catalog)
        .map(|(number, _)| number)
        .collect();
    let works = numbers
        .iter()
        .any(|number| catalog.statements[*number].step == TransactionStep::None);
    works.then_some((numbers, transaction.begins_itself))
}

/// The statements that can be kept, with the positions of their calls.
fn kept<'a>(
    transaction: &'a Transaction,
    catalog: &'a mut Catalog,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    transaction
        .calls
        .iter()
        .enumerate()
        .filter_map(move |(position, call)| {
            let number = catalog.number(call)?;
            let number = catalog.standing_for(number);
            catalog.statements[number]
                .left_out
                .is_none()
                .then_some((number, position))
        })
}

fn left_out(catalog: &Catalog) -> Vec<(String, u64)> {
    let mut all: HashMap<String, u64> = HashMap::new();
    for statement in &catalog.statements {
        if let Some(why) = statement.left_out {
            let text: String = statement.fingerprint.chars().take(80).collect();
            *all.entry(format!("{text} ({why})")).or_default() += statement.count;
        }
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

/// The kinds that a workload gets, and for each kind that was met the one that it is counted as.
fn chosen(
    catalog: &Catalog,
    tallies: HashMap<Key, Tally>,
    (all, all_us): (u64, u64),
    left_out: &mut Vec<(String, u64)>,
) -> (Vec<Shape>, HashMap<Key, usize>) {
    let mut repetitions: HashMap<Key, Vec<(Key, Tally)>> = HashMap::new();
    let firsts = firsts_of_fingerprints(catalog);
    for (key, tally) in tallies {
        let mut once: Vec<usize> = key.0.iter().map(|number| firsts[*number]).collect();
        once.dedup();
        repetitions
            .entry((once, key.1))
            .or_default()
            .push((key, tally));
    }
    let mut kinds: Vec<(Key, Tally)> = Vec::new();
    for (_, mut lengths) in repetitions {
        lengths.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(&b.0)));
        let rest = lengths.split_off(lengths.len().min(LENGTHS_OF_REPETITION));
        let first = kinds.len();
        kinds.extend(lengths);
        for (key, tally) in rest {
            let near = kinds[first..]
                .iter_mut()
                .min_by_key(|kind| kind.0.0.len().abs_diff(key.0.len()));
            if let Some(kind) = near {
                kind.1.count += tally.count;
                kind.1.time_us += tally.time_us;
            }
        }
    }
    let share = |tally: &Tally| {
        tally.count as f64 / all.max(1) as f64 + tally.time_us as f64 / all_us.max(1) as f64
    };
    kinds.sort_by(|a, b| {
        share(&b.1)
            .total_cmp(&share(&a.1))
            .then_with(|| a.0.cmp(&b.0))
    });
    let (mut shapes, mut assigned) = (Vec::new(), HashMap::new());
    let (mut count, mut time_us) = (0, 0);
    for (key, tally) in kinds {
        let is_covered =
            count as f64 >= COVERED * all as f64 && time_us as f64 >= COVERED * all_us as f64;
        if is_covered || shapes.len() == KINDS_MAX {
            let what: Vec<_> = key
                .0
                .iter()
                .map(|number| &*catalog.statements[*number].fingerprint)
                .collect();
            let what: String = what.join("; ").chars().take(120).collect();
            left_out.push((format!("{what} (a rare transaction)"), tally.count));
            continue;
        }
        count += tally.count;
        time_us += tally.time_us;
        // Only transactions that are this kind themselves give values.
        assigned.insert(key.clone(), shapes.len());
        shapes.push(Shape {
            statements: key.0,
            begins_itself: key.1,
            count: tally.count,
            time_us: tally.time_us,
            samples: Vec::new(),
        });
    }
    (shapes, assigned)
}

/// For each statement the first one of its fingerprint.
fn firsts_of_fingerprints(catalog: &Catalog) -> Vec<usize> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    let statements = catalog.statements.iter().enumerate();
    statements
        .map(|(number, statement)| *first.entry(&statement.fingerprint).or_insert(number))
        .collect()
}

/// Keeps the values of some transactions of each kind, all of them as likely (Vitter 1985, algorithm R).
fn sample(
    path: &Path,
    catalog: &mut Catalog,
    shapes: &mut [Shape],
    assigned: &HashMap<Key, usize>,
) -> Result<(), FitError> {
    let mut rng: Rng = seeded(0, 0);
    let mut met = vec![0_u64; shapes.len()];
    each_transaction(path, &mut |transaction| {
        let Some(position) = key(transaction, catalog).and_then(|key| assigned.get(&key).copied())
        else {
            return;
        };
        let Some(sample) = sample_of(transaction, catalog) else {
            return;
        };
        let samples = &mut shapes[position].samples;
        let most = (DATA_MAX / sample.data.len().max(1)).clamp(50, SAMPLES_MAX);
        met[position] += 1;
        if samples.len() < most {
            samples.push(sample);
        } else {
            let at = rng.below(met[position]) as usize;
            if let Some(place) = samples.get_mut(at) {
                *place = sample;
            }
        }
    })?;
    // What ascends in time is seen as such.
    for shape in shapes {
        shape
            .samples
            .sort_by_key(|sample| sample.at_us.first().copied());
    }
    Ok(())
}

/// The values of a transaction; `None` if another text stands for one of its statements.
fn sample_of(transaction: &Transaction, catalog: &mut Catalog) -> Option<Sample> {
    let kept: Vec<_> = kept(transaction, catalog).collect();
    let mut sample = Sample {
        at_us: Vec::new(),
        data: Vec::new(),
        insert_ids: Vec::new(),
    };
    let mut insert_id = None;
    for (number, position) in kept {
        let call = &transaction.calls[position];
        if catalog.number(call) != Some(number) {
            return None;
        }
        sample.at_us.push(call.at_us);
        sample.insert_ids.push(insert_id);
        sample
            .data
            .extend(call.data(&catalog.statements[number].marks)?);
        insert_id = call.insert_id.or(insert_id);
    }
    Some(sample)
}
