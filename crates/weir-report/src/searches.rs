//! Answers of searches, in sentences.

use weir_model::{
    Confirmation, FoundPlace, JudgedResult, SearchAnswer, SearchGoal, SearchPlan, StudyResult,
};

use crate::cell_label;
use crate::number::{bytes_words, grouped};
use crate::words::connections;

/// For each cell that was searched: what was found, and what a second look at it says.
pub(crate) fn sentences(result: &JudgedResult) -> Vec<String> {
    let Some(search) = &result.evidence.plan.search else {
        return Vec::new();
    };
    result
        .searches
        .iter()
        .flat_map(|answer| lines(&result.evidence, search, answer))
        .collect()
}

fn lines(result: &StudyResult, search: &SearchPlan, answer: &SearchAnswer) -> Vec<String> {
    let context = match result.plan.cells.get(answer.of_cell) {
        Some(cell) if !cell.levels.is_empty() => format!("{}: ", cell_label(cell)),
        _ => String::new(),
    };
    if answer.found.is_empty() {
        return vec![format!(
            "{context}the search for {} is not complete after {} runs",
            goal_words(search),
            answer.runs
        )];
    }
    let mut lines: Vec<_> = answer
        .found
        .iter()
        .map(|found| format!("{context}{}", found_words(search, found)))
        .collect();
    lines.extend(
        answer
            .confirmation
            .as_ref()
            .map(|again| format!("{context}{}", confirmation_words(search, again))),
    );
    lines
}

fn goal_words(search: &SearchPlan) -> String {
    match &search.goal {
        SearchGoal::Rate { objective } => format!("the highest rate with {objective}"),
        SearchGoal::Threads { objective } => format!("the most connections with {objective}"),
        SearchGoal::Peak => format!("the best {}", search.factor),
        SearchGoal::Knee { .. } => format!("the knee of {}", search.factor),
    }
}

/// `highest rate with p99 <= 10ms: 812 transactions/s (missed at 850)`.
fn found_words(search: &SearchPlan, found: &FoundPlace) -> String {
    let place = |place| place_words(search, place);
    let meaning = &found.meaning;
    let keeps_latency = search.goal.objective().is_some();
    match (found.place, found.below, found.above) {
        (None, _, _) => format!(
            "{meaning}: none, it was missed already at {}",
            place(search.low)
        ),
        (Some(at), _, Some(above)) if keeps_latency => {
            format!("{meaning}: {} (missed at {})", place(at), place(above))
        }
        (Some(at), _, None) if keeps_latency => {
            format!("{meaning}: {} or more (the end of the range)", place(at))
        }
        (Some(at), Some(below), Some(above)) => format!(
            "{meaning}: {} (between {} and {})",
            place(at),
            place(below),
            place(above)
        ),
        (Some(at), None, Some(_)) => {
            format!("{meaning}: {} or less (the end of the range)", place(at))
        }
        (Some(at), _, None) => format!("{meaning}: {}", place(at)),
    }
}

/// Returns the words for the runs at the answer, which the search did not see.
fn confirmation_words(search: &SearchPlan, confirmation: &Confirmation) -> String {
    let interval = confirmation
        .queries_per_s_low
        .zip(confirmation.queries_per_s_high)
        .map(|(low, high)| format!(" (95 % interval {} to {})", grouped(low), grouped(high)))
        .unwrap_or_default();
    let kept = match (search.goal.objective(), confirmation.objective_kept) {
        (Some(objective), Some(kept)) => {
            format!("; {kept} of {} kept {objective}", confirmation.runs)
        }
        _ => String::new(),
    };
    let runs = if confirmation.runs == 1 {
        "run"
    } else {
        "runs"
    };
    format!(
        "measured again at {} in {} {runs}: {} queries/s{interval}, p99 {:.1} ms{kept}",
        place_words(search, confirmation.place),
        confirmation.runs,
        grouped(confirmation.queries_per_s),
        confirmation.latency_us_p99 / 1e3
    )
}

fn place_words(search: &SearchPlan, place: u64) -> String {
    // Small numbers would get decimals, which a count does not have.
    let count = if place < 1_000 {
        place.to_string()
    } else {
        grouped(place as f64)
    };
    match search.factor.as_str() {
        "rate" => format!("{count} transactions/s"),
        "threads" => connections(count),
        name if name.ends_with("_size") || name.ends_with("_capacity") => bytes_words(place),
        _ => count,
    }
}

#[cfg(test)]
mod tests {
    use weir_model::Cell;

    use super::*;
    use crate::sample;

    fn searched(goal: SearchGoal, factor: &str, found: FoundPlace) -> JudgedResult {
        let mut result = sample::study(4, 1);
        result.evidence.plan.search = Some(SearchPlan {
            goal,
            factor: factor.to_owned(),
            low: 100,
            high: 20_000,
            tolerance: 0.05,
            runs: 1,
            confirm: 3,
        });
        result.evidence.plan.cells[0] = Cell::default();
        result.searches = vec![SearchAnswer {
            of_cell: 0,
            factor: factor.to_owned(),
            runs: 12,
            found: vec![found],
            confirmation: None,
        }];
        result
    }

    fn rate() -> SearchGoal {
        SearchGoal::Rate {
            objective: "p99 <= 10ms".parse().unwrap(),
        }
    }

    fn place(place: Option<u64>, below: Option<u64>, above: Option<u64>) -> FoundPlace {
        FoundPlace {
            meaning: "highest rate with p99 <= 10ms".to_owned(),
            place,
            below,
            above,
        }
    }

    #[test]
    fn a_rate_is_said_with_what_missed_and_what_a_second_look_says() {
        let mut result = searched(rate(), "rate", place(Some(812), Some(812), Some(850)));
        result.searches[0].confirmation = Some(Confirmation {
            place: 812,
            runs: 3,
            queries_per_s: 4_870.0,
            queries_per_s_low: Some(4_800.0),
            queries_per_s_high: Some(4_940.0),
            latency_us_p99: 9_400.0,
            objective_kept: Some(2),
        });
        let lines = sentences(&result);
        assert_eq!(
            lines[0],
            "highest rate with p99 <= 10ms: 812 transactions/s (missed at 850 transactions/s)"
        );
        assert_eq!(
            lines[1],
            "measured again at 812 transactions/s in 3 runs: 4,870 queries/s (95 % interval \
             4,800 to 4,940), p99 9.4 ms; 2 of 3 kept p99 <= 10ms"
        );
    }

    #[test]
    fn the_ends_of_the_range_are_no_answers() {
        let said = |found| sentences(&searched(rate(), "rate", found))[0].clone();
        assert!(said(place(None, None, Some(100))).contains("missed already at 100"));
        assert!(said(place(Some(20_000), Some(20_000), None)).contains("or more"));
        let mut open = searched(rate(), "rate", place(None, None, None));
        open.searches[0].found.clear();
        assert!(sentences(&open)[0].contains("not complete after 12 runs"));
    }

    #[test]
    fn connections_are_said_with_what_missed() {
        let objective = "p99 <= 20ms".parse().unwrap();
        let found = FoundPlace {
            meaning: "most connections with p99 <= 20ms".to_owned(),
            ..place(Some(48), Some(48), Some(50))
        };
        let goal = SearchGoal::Threads { objective };
        let said = &sentences(&searched(goal, "threads", found))[0];
        assert_eq!(
            said,
            "most connections with p99 <= 20ms: 48 connections (missed at 50 connections)"
        );
    }

    #[test]
    fn a_size_is_said_with_its_bracket() {
        let knee = FoundPlace {
            meaning: "97 % of the largest one's throughput".to_owned(),
            place: Some(96 << 20),
            below: Some(92 << 20),
            above: Some(100 << 20),
        };
        let goal = SearchGoal::Knee { shares: vec![0.97] };
        assert_eq!(
            sentences(&searched(goal, "innodb_buffer_pool_size", knee))[0],
            "97 % of the largest one's throughput: 96 MiB (between 92 MiB and 100 MiB)"
        );
    }
}
