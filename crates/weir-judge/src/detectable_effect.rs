//! Power of a study, before anything runs: its comparisons, and the least effect that its
//! repetitions can tell from noise.

use weir_model::{Bound, Claim, Plan, ScreenPart, ScreenPlan, Until};
use weir_stats::{
    REFERENCE_LOG_DEVIATION, detectable_ratio, equality_pairs_needed, pairs_needed,
    screen_half_width,
};

use crate::cell_index::CellIndex;
use crate::claims;
use crate::compare::contrasts;
use crate::percent;

/// One line each, most important first. The noise is that of published runs of I/O-bound servers;
/// this host's own is not known before it is measured.
pub fn prospects(plan: &Plan) -> Vec<String> {
    if plan.search.is_some() {
        return Vec::new();
    }
    if let Some(screen) = &plan.screen {
        return vec![screen_prospect(plan, screen)];
    }
    let count = contrasts(plan, &CellIndex::new(plan)).len();
    if count == 0 {
        return vec![
            "no comparison: no factor has two levels that differ in this factor only; add a level, or exclude \
             less"
                .to_owned(),
        ];
    }
    let pairs = plan.repeat.runs as usize;
    let mut lines = vec![comparisons(count, pairs, plan)];
    let too_small = |claim: &&weir_model::Claim| {
        let effect = claim.value.max(1.0 / claim.value);
        claim.value > 0.0
            && claim.bound == Bound::Equal
            && !claims::says_equal(claim)
            && plan.repeat.until.is_none()
            && effect < detectable_ratio(pairs, REFERENCE_LOG_DEVIATION)
    };
    for claim in plan.claims.iter().filter(too_small) {
        let needed = pairs_needed(claim.value, REFERENCE_LOG_DEVIATION);
        let remedy = needed.map_or_else(
            || "no number of repetitions would".to_owned(),
            |needed| format!("repeat.runs = {needed} would"),
        );
        lines.push(format!(
            "the claimed {} ({}) is too small for {pairs} repetitions at that noise; {remedy}",
            claim.value, claim.says
        ));
    }
    let says_equal = plan.claims.iter().filter(|claim| claims::says_equal(claim));
    lines.extend(says_equal.map(|claim| equality_prospect(plan, claim)));
    lines
}

/// Repetitions that it takes to bear out a claim of equality.
fn equality_prospect(plan: &Plan, claim: &Claim) -> String {
    let margin = plan.repeat.equal_margin();
    // Both runs of a pair vary.
    let deviation = REFERENCE_LOG_DEVIATION * std::f64::consts::SQRT_2;
    let needed = equality_pairs_needed(deviation, margin).map_or_else(
        || "no number of repetitions shows it".to_owned(),
        |needed| format!("about {needed} repetitions show it, if it is so"),
    );
    format!(
        "the claim of equality within {} % ({}): at that noise {needed}",
        percent(margin),
        claim.says
    )
}

fn screen_prospect(plan: &Plan, screen: &ScreenPlan) -> String {
    let is_row = |part| matches!(part, ScreenPart::Row | ScreenPart::MirroredRow);
    let parts = plan.cells.iter().filter_map(|cell| cell.screened.as_ref());
    let rows = parts.filter(|screened| is_row(screened.part)).count();
    let factors = screen.candidates.len();
    let width = screen_half_width(rows, factors, REFERENCE_LOG_DEVIATION) - 1.0;
    format!(
        "a screen of {factors} factors in {rows} rows: with runs that vary by {:.1} %, as published I/O-bound ones, it \
         knows each effect to +-{:.1} %; what wins is measured anew until each has a verdict, at most {} times",
        REFERENCE_LOG_DEVIATION * 100.0,
        width * 100.0,
        plan.repeat.at_most
    )
}

fn comparisons(count: usize, pairs: usize, plan: &Plan) -> String {
    let comparisons = if count == 1 {
        "comparison"
    } else {
        "comparisons"
    };
    if let Some(until) = plan.repeat.until {
        let known = match until {
            Until::Within(half_width) => {
                format!("each is known to +-{:.3} %", half_width * 100.0).replace(".000 %", " %")
            }
            Until::Verdict => "each has a verdict".to_owned(),
            Until::Equal(margin) => format!(
                "each is equal within {:.3} %, or surely differs by more",
                margin * 100.0
            )
            .replace(".000 %", " %"),
        };
        return format!(
            "{count} {comparisons}, repeated until {known}, at most {} times",
            plan.repeat.at_most
        );
    }
    let smallest = (detectable_ratio(pairs, REFERENCE_LOG_DEVIATION) - 1.0) * 100.0;
    let shows = if smallest.is_finite() {
        format!("show effects from about {smallest:.0} % on")
    } else {
        "show no effect of any size".to_owned()
    };
    format!(
        "{count} {comparisons}; with runs that vary by {:.1} %, as published I/O-bound ones, \
         {pairs} repetitions {shows}",
        REFERENCE_LOG_DEVIATION * 100.0
    )
}
