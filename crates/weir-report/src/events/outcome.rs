//! Endings of events, in words.

use weir_model::{EventEnding, EventRecord};

/// `done`, or each of several outcomes with how often it was.
pub(super) fn outcomes(events: &[&EventRecord]) -> String {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for event in events {
        let outcome = outcome(event);
        match counted.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, count)) => *count += 1,
            None => counted.push((outcome, 1)),
        }
    }
    if let [(outcome, _)] = counted.as_slice() {
        return outcome.clone();
    }
    let all = events.len();
    let each = counted.iter();
    let each = each.map(|(outcome, count)| format!("{outcome} ({count} of {all} runs)"));
    each.collect::<Vec<_>>().join("; ")
}

fn outcome(event: &EventRecord) -> String {
    let tries = match event.tries {
        0 | 1 => String::new(),
        tries => format!(" in {tries} tries"),
    };
    match &event.ending {
        EventEnding::Done => format!("done{tries}"),
        EventEnding::CutOff => "ended by Weir with the load".to_owned(),
        EventEnding::Refused { code, message } => {
            let number = code.map_or_else(String::new, |code| format!(" (error {code})"));
            format!("refused{tries}: {message}{number}")
        }
    }
}
