//! Insights from several comparisons together, in sentences.

use weir_model::{
    Analysis, CostRow, Interaction, MemoryEquivalent, Noise, OverallEffect, PoolElasticity, Ratio,
    Scalability,
};

use crate::number::{grouped, interval_decimals, interval_end, percent};
use crate::words::{count, levels_phrase};

/// All sentences, without final periods, the broadest first.
pub(crate) fn sentences(analysis: &Analysis) -> Vec<String> {
    let Analysis {
        noise,
        overall,
        interactions,
        elasticities,
        equivalents,
        scalability,
        costs,
        screen: _,
        claims: _,
    } = analysis;
    // Of one place the answer itself has said all.
    let several = overall.iter().filter(|effect| effect.contexts > 1);
    let mut lines: Vec<String> = several.map(overall_effect).collect();
    lines.extend(interactions.iter().map(interaction));
    lines.extend(elasticities.iter().map(elasticity));
    lines.extend(equivalents.iter().map(equivalent));
    lines.extend(scalability.iter().map(law));
    lines.extend(costs.iter().map(cost));
    lines.extend(noise.iter().map(noise_floor));
    lines
}

fn overall_effect(effect: &OverallEffect) -> String {
    let invalid = match effect.invalid {
        0 => String::new(),
        1 => "; 1 more is invalid".to_owned(),
        invalid => format!("; {invalid} more are invalid"),
    };
    format!(
        "{} {} over {} in all contexts: geometric mean {:.2}x, smallest {:.2}x, largest {:.2}x ({}{invalid})",
        effect.factor,
        effect.level,
        effect.baseline,
        effect.geometric_mean,
        effect.ratio_min,
        effect.ratio_max,
        count(effect.contexts, "comparison"),
    )
}

fn interaction(interaction: &Interaction) -> String {
    let Interaction {
        first,
        second,
        first_effect,
        second_effect,
        both_effect,
        ..
    } = interaction;
    let together = &interaction.interaction;
    let meaning = match together.differs_from_one() {
        true if together.ratio > 1.0 => "they help each other",
        true => "they overlap",
        false => "no interaction was shown",
    };
    format!(
        "{first} alone {}, {second} alone {}, both {} of {}{}: {:.2} x {:.2} would be {:.2}, so the \
         interaction is {}: {meaning}",
        ratio_words(first_effect),
        ratio_words(second_effect),
        ratio_words(both_effect),
        interaction.neither,
        at(&interaction.context),
        first_effect.ratio,
        second_effect.ratio,
        first_effect.ratio * second_effect.ratio,
        ratio_words(together),
    )
}

fn elasticity(elasticity: &PoolElasticity) -> String {
    let interval = elasticity.low.zip(elasticity.high);
    let interval = interval.map_or(String::new(), |(low, high)| {
        format!(" (95 % interval {low:.2} to {high:.2})")
    });
    format!(
        "from {} to {} of buffer pool, 1 % more memory gives {:+.2} % throughput{interval}{}",
        elasticity.from,
        elasticity.to,
        elasticity.value,
        at(&elasticity.context)
    )
}

pub(crate) fn equivalent(equivalent: &MemoryEquivalent) -> String {
    let MemoryEquivalent {
        drive,
        baseline,
        pool,
        ..
    } = equivalent;
    let place = at(&equivalent.context);
    match (&equivalent.memory, &equivalent.why_not) {
        (Some(memory), _) => {
            let more = |ratio: f64| format!("{:+.0} %", (ratio - 1.0) * 100.0);
            let ends = memory.interval().map_or(String::new(), |(low, high)| {
                format!(" (95 % interval {} to {})", more(low), more(high))
            });
            format!(
                "{drive} with a buffer pool of {pool} does as {baseline} with {} memory{ends}{place}",
                more(memory.ratio)
            )
        }
        (None, why) => format!(
            "the value of {drive} in memory of {baseline} at {pool}{place} is unknown: {}",
            why.as_deref().unwrap_or("it was not measured")
        ),
    }
}

fn law(law: &Scalability) -> String {
    let peak = match law.peak {
        Some(peak) => format!("throughput is highest near {peak:.0} connections"),
        None => "throughput has no peak in this range".to_owned(),
    };
    format!(
        "from {} to {} connections{}: {} is serial (contention), {peak}; the law is within {} of the \
         measurements on average",
        law.connections_min,
        law.connections_max,
        at(&law.context),
        percent(law.sigma),
        percent(law.relative_error),
    )
}

fn cost(row: &CostRow) -> String {
    let dominated = if row.dominated {
        "; another one is as fast or faster for no more money"
    } else {
        ""
    };
    format!(
        "{} {}{}: {} queries per second for one {} at a price of {}{dominated}",
        row.factor,
        row.level,
        at(&row.context),
        grouped(row.queries_per_s_per_price),
        row.currency,
        grouped(row.price),
    )
}

fn noise_floor(noise: &Noise) -> String {
    let identical = match noise.identical_cells {
        0 => String::new(),
        cells => format!(", {cells} of them with the same settings"),
    };
    format!(
        "noise: one run differs from the next by {} (standard deviation, all combinations{identical}); \
         with {} an effect below {} cannot be told from none",
        percent(noise.log_deviation),
        count(noise.repetitions, "repetition"),
        percent(noise.floor_ratio - 1.0),
    )
}

/// ` on intel-p4610, 32 connections`, or nothing.
fn at(context: &std::collections::BTreeMap<String, String>) -> String {
    match levels_phrase(context).as_str() {
        "" => String::new(),
        phrase => format!(" at {phrase}"),
    }
}

/// `1.31x (1.24 to 1.39)`.
pub(crate) fn ratio_words(ratio: &Ratio) -> String {
    match ratio.interval() {
        None => format!("{:.2}x", ratio.ratio),
        Some((low, high)) => {
            let decimals = interval_decimals(low, high);
            let end = |value| interval_end(value, decimals);
            format!(
                "{:.decimals$}x ({} to {})",
                ratio.ratio,
                end(low),
                end(high)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn ratio(ratio: f64, low: f64, high: f64) -> Ratio {
        Ratio {
            ratio,
            low: Some(low),
            high: Some(high),
        }
    }

    #[test]
    fn what_holds_at_several_places_is_said_and_one_place_is_not_said_again() {
        let mut analysis = crate::sample::study(4, 3).analysis;
        let said = |analysis: &Analysis| {
            let mut lines = sentences(analysis).into_iter();
            lines.find(|line| line.contains("geometric mean"))
        };
        analysis.overall[0].invalid = 1;
        let line = said(&analysis).unwrap();
        assert!(
            line.ends_with("(2 comparisons; 1 more is invalid)"),
            "{line}"
        );
        analysis.overall[0].contexts = 1;
        assert_eq!(said(&analysis), None);
    }

    #[test]
    fn two_changes_are_told_alone_and_together() {
        let words = interaction(&Interaction {
            first: "innodb_doublewrite OFF".into(),
            second: "drive fast".into(),
            neither: "innodb_doublewrite ON, drive slow".into(),
            context: BTreeMap::new(),
            first_effect: ratio(1.48, 1.40, 1.56),
            second_effect: ratio(1.30, 1.22, 1.38),
            both_effect: ratio(1.93, 1.80, 2.07),
            interaction: ratio(1.003, 0.93, 1.08),
        });
        assert_eq!(
            words,
            "innodb_doublewrite OFF alone 1.48x (1.40 to 1.56), drive fast alone 1.30x (1.22 to 1.38), \
             both 1.93x (1.80 to 2.07) of innodb_doublewrite ON, drive slow: 1.48 x 1.30 would be 1.92, \
             so the interaction is 1.00x (0.93 to 1.08): no interaction was shown"
        );
    }

    #[test]
    fn a_drive_is_told_in_memory_or_why_it_cannot_be() {
        let mut found = MemoryEquivalent {
            drive: "fast".into(),
            baseline: "slow".into(),
            context: BTreeMap::from([("threads".to_owned(), "32".to_owned())]),
            pool: "6G".into(),
            memory: Some(ratio(1.6, 1.45, 1.8)),
            why_not: None,
        };
        assert_eq!(
            equivalent(&found),
            "fast with a buffer pool of 6G does as slow with +60 % memory (95 % interval +45 % to +80 %) \
             at 32 connections"
        );
        found.memory = None;
        found.why_not = Some("9000 was not measured".into());
        assert!(equivalent(&found).ends_with("is unknown: 9000 was not measured"));
    }
}
