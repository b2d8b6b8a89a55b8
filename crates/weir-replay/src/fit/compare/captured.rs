//! The load of a capture, and what of its time is spent in statements that a workload has.

use std::collections::HashSet;
use std::path::Path;

use weir_capture::TransactionStep;
use weir_mysql::NameCase;

use crate::fit::FitError;
use crate::fit::catalog::Catalog;
use crate::fit::datum::Datum;
use crate::fit::load_profile::{LoadProfile, Mark, ProfiledStatement};
use crate::fit::transactions::{Transaction, each_transaction};
use crate::fit::workload_form::Form;

/// A capture as a profile.
pub(super) struct CaptureProfile {
    pub(super) profile: LoadProfile,
    pub(super) time_us: u64,
    /// The time of statements that the workload has.
    pub(super) known_us: u64,
}

/// Reads the capture; `forms`: the statements of the workload.
pub(super) fn captured(
    path: &Path,
    schema: Option<String>,
    forms: &[Form],
) -> Result<CaptureProfile, FitError> {
    let known: HashSet<&str> = forms.iter().map(|form| &*form.fingerprint).collect();
    // Of no server it is known how it compares names.
    let mut catalog = Catalog::new(schema, NameCase::Exact);
    let mut captured = CaptureProfile {
        profile: LoadProfile::default(),
        time_us: 0,
        known_us: 0,
    };
    each_transaction(path, &mut |transaction| {
        let asked = asked(transaction, &mut catalog, &known, &mut captured);
        if !asked.is_empty() {
            captured.profile.take(&asked);
        }
    })?;
    Ok(captured)
}

fn asked(
    transaction: &Transaction,
    catalog: &mut Catalog,
    known: &HashSet<&str>,
    captured: &mut CaptureProfile,
) -> Vec<ProfiledStatement> {
    let mut asked = Vec::new();
    for call in &transaction.calls {
        let Some(number) = catalog.number(call) else {
            continue;
        };
        let statement = &catalog.statements[number];
        if statement.step != TransactionStep::None {
            continue;
        }
        let time_us = call.took_us.unwrap_or(1);
        captured.time_us += time_us;
        if known.contains(&*statement.fingerprint) {
            captured.known_us += time_us;
        }
        if statement.left_out.is_some() {
            continue;
        }
        let data = call.data(&statement.marks).unwrap_or_default();
        asked.push(ProfiledStatement {
            fingerprint: statement.fingerprint.clone(),
            values: data.iter().map(mark).collect(),
        });
    }
    asked
}

fn mark(datum: &Datum) -> Mark {
    match datum {
        Datum::Integer(number) | Datum::Moment(number) => Mark::Number(*number),
        Datum::Decimal { units, .. } => Mark::Number(*units),
        Datum::Text(text) => text.number.map_or(Mark::Text(text.hash), Mark::Number),
        Datum::Null => Mark::Unknown,
    }
}
