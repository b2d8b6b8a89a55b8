//! The script of `--undo`, run by the client that people use: the table is as it was, every other one as it is.

use weir_flashback::{
    FlashbackError, FlashbackPlan, Rehearsal, RehearsalResult, Script, TransactionFilter, Triggers,
    Undo, head,
};
use weir_testing::Random;

use crate::checks::Outcome;
use crate::history::{Feature, History};
use crate::subject::{HistoryRecord, Subject, world};

/// Of histories without keys and triggers one in so many is rehearsed.
const REHEARSED: usize = 3;

pub(crate) fn check(
    subject: &Subject,
    history: &History,
    lived: &HistoryRecord,
    random: &mut Random,
    outcome: &mut Outcome,
) {
    let table = history.tables[random.below(history.tables.len())];
    let key = (table.0.to_owned(), table.1.to_owned());
    let moments: Vec<_> = lived.moments.iter().collect();
    if moments.is_empty() {
        return;
    }
    let moment = moments[random.below(moments.len())];
    let (Some(then), Some(now)) = (moment.world.get(&key), lived.now.get(&key)) else {
        return;
    };
    let asked = &moment.asked[random.below(moment.asked.len())];
    let Ok(prepared) = subject.prepare(&table, asked) else {
        return;
    };
    if prepared.tables[0].is_keyless || !now.columns.starts_with(&then.columns) {
        return;
    }
    let special = [
        Feature::ForeignKey,
        Feature::Triggers,
        Feature::SessionExpressions,
    ];
    let is_special = special
        .iter()
        .any(|feature| history.features.contains(feature));
    let is_rehearsed = is_special || random.once_in(REHEARSED);
    let (script, rehearsed) = match write(subject, &prepared, is_rehearsed) {
        Ok(written) => written,
        Err(error) => return outcome.refused("undo", &error),
    };
    let done = subject.run_script(&script.text);
    let after = world(&mut subject.connect());
    let is_all = script.conflicts.is_empty()
        && rehearsed.missed.is_empty()
        && rehearsed.differences.is_empty();
    outcome.answered(if is_rehearsed {
        "undo, rehearsed"
    } else {
        "undo"
    });
    let mut expected = lived.now.clone();
    match (&done, is_all) {
        (Ok(()), true) => drop(expected.insert(key.clone(), then.clone())),
        // Rows that are left as they are, as the command says.
        (Ok(()), false) if rehearsed.missed.is_empty() => drop(expected.remove(&key)),
        (Ok(()), false) => outcome.finds(
            "undo",
            format!("{rehearsed:?}, and the script ran: {}", script.text),
        ),
        (Err(_), false) if !rehearsed.missed.is_empty() => {}
        (Err(error), _) => outcome.finds("undo", format!("{error}; {}", script.text)),
    }
    for (name, expected) in &expected {
        let difference = match after.get(name) {
            // Of columns that were added since nothing was known.
            Some(found) => expected.difference(&found.first_columns(expected.columns.len())),
            None => Some("it is gone".to_owned()),
        };
        if let Some(difference) = difference {
            outcome.finds(
                "undo",
                format!("{asked:?}, {name:?}: {difference}; {}", script.text),
            );
        }
    }
}

fn write(
    subject: &Subject,
    prepared: &FlashbackPlan,
    is_rehearsed: bool,
) -> Result<(Script, RehearsalResult), FlashbackError> {
    // Refused before anything is read, as the command does.
    let triggers = Triggers::read(prepared, false)?;
    let (mut undo, told) = Undo::read(prepared, TransactionFilter::default())?;
    if !is_rehearsed {
        let script = undo.script(&prepared.tables, "the server", "then", &told);
        return Ok((script, RehearsalResult::default()));
    }
    let rehearsal = Rehearsal::new(prepared, &subject.private, triggers)?;
    rehearsal.perform(&mut undo, &head("the server", "then", &told))
}
