//! Screens on made-up servers: which settings are named, and which are not.

use super::*;

/// Server variables of two levels: `name`, and what its candidate multiplies throughput, p99 and processor time by.
type Effects<'a> = &'a [(&'a str, f64, f64, f64)];

/// Names that no two settings share.
const NAMES: [&str; 19] = [
    "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b1", "b2", "b3", "b4", "b5", "b6", "b7",
    "b8", "b9", "c1",
];

fn screen(factors: usize, seed: u64) -> Plan {
    let levels = NAMES[..factors].iter();
    let levels: Vec<_> = levels.map(|name| format!("{name} = [0, 1]\n")).collect();
    let levels = levels.concat();
    plan(&format!(
        "[design]\nkind = \"screen\"\n[factors]\n{levels}[repeat]\nseed = {seed}\n"
    ))
}

/// Normal noise.
struct Gauss(Xoshiro256PlusPlus);

impl Gauss {
    fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn factor(&mut self, sigma: f64) -> f64 {
        let uniform = |random: &mut Xoshiro256PlusPlus| random.random::<f64>().max(1e-300);
        let (one, other) = (uniform(&mut self.0), uniform(&mut self.0));
        (sigma * (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()).exp()
    }
}

/// A server whose settings multiply, with `sigma` from run to run.
fn server(effects: Effects<'_>, sigma: f64, mut gauss: Gauss) -> impl FnMut(&Cell) -> MadeUpRun {
    move |cell| {
        let has = |name: &str| cell.spec.variable(name) == Some("1");
        let of = |pick: fn(&(&str, f64, f64, f64)) -> f64| -> f64 {
            let with = effects.iter().filter(|effect| has(effect.0));
            with.map(pick).product()
        };
        MadeUpRun {
            queries_per_s: 10_000.0 * of(|effect| effect.1) * gauss.factor(sigma),
            latency_us_p99: 5_000.0 * of(|effect| effect.2) * gauss.factor(sigma),
            server_cpu_us_per_query: 40.0 * of(|effect| effect.3) * gauss.factor(sigma),
        }
    }
}

/// The settings that a study recommends: confirmed to be better, each against the others without it.
fn confirmed(plan: Plan, records: &[RunRecord]) -> Vec<String> {
    let judged = crate::evaluate(result(plan, records)).unwrap();
    let better = judged.comparisons.iter().filter(|found| {
        found.verdict == Verdict::Effect
            && found.improvement().ratio > 1.0
            && found.factor != "configuration"
    });
    better.map(|found| found.factor.clone()).collect()
}

const THREE: Effects<'static> = &[
    ("a2", 1.08, 1.0, 1.0),
    ("a5", 1.08, 1.0, 1.0),
    ("b1", 1.08, 1.0, 1.0),
];

#[test]
fn three_settings_that_matter_are_found_among_eleven_and_others_are_not() {
    let (mut all_three, mut false_names, mut runs) = (0, 0, 0);
    for seed in 0..200 {
        let mut plan = screen(11, seed);
        let serve = server(THREE, 0.03, Gauss::seeded(1_000 + seed));
        let records = run_measured(&mut plan, serve);
        runs += records.len();
        let found = confirmed(plan, &records);
        let is_true = |name: &&String| THREE.iter().any(|effect| effect.0 == **name);
        let of_truth = found.iter().filter(is_true).count();
        all_three += usize::from(of_truth == 3);
        false_names += found.len() - of_truth;
    }
    println!("all three in {all_three} of 200 studies, {false_names} false, {runs} runs");
    assert!(all_three >= 180, "{all_three}");
    assert!(false_names <= 10, "{false_names}");
}

#[test]
fn equal_settings_are_not_named() {
    let mut named = 0;
    for seed in 0..100 {
        let mut plan = screen(19, seed);
        let records = run_measured(&mut plan, server(&[], 0.03, Gauss::seeded(seed)));
        named += usize::from(!confirmed(plan, &records).is_empty());
    }
    println!("a setting is named in {named} of 100 studies of equal ones");
    assert!(named <= 5, "{named}");
}

/// A saving of processor time alone wins by that; one that costs throughput does not win.
#[test]
fn a_setting_wins_by_what_it_is_better_in_and_not_at_the_price_of_throughput() {
    let effects: Effects<'_> = &[
        ("a3", 1.0, 1.0, 0.90),
        ("a4", 0.90, 1.0, 0.85),
        ("a9", 1.0, 0.80, 1.0),
    ];
    for seed in 0..20 {
        let mut plan = screen(9, seed);
        let records = run_measured(&mut plan, server(effects, 0.02, Gauss::seeded(seed)));
        let screen = plan.screen.clone().unwrap();
        let metric_of = |name: &str| {
            let mut winners = screen.winners.iter();
            let factor =
                |winner: &&weir_model::Winner| screen.candidates[winner.candidate].factor == name;
            winners.find(factor).map(|winner| winner.metric.clone())
        };
        assert_eq!(metric_of("a3").unwrap(), "server_cpu_us_per_query");
        assert_eq!(metric_of("a9").unwrap(), "latency_us_p99");
        assert_eq!(metric_of("a4"), None);
        let judged = crate::evaluate(result(plan, &records)).unwrap();
        assert_eq!(judged.comparisons[0].factor, "configuration");
        let found = judged.comparisons.iter();
        let found = found.filter(|found| ["a3", "a9"].contains(&found.factor.as_str()));
        for one in found {
            assert_eq!(one.verdict, Verdict::Effect, "{one:?}");
            assert_eq!(Some(&one.metric), metric_of(&one.factor).as_ref());
        }
        let ranking = judged.analysis.screen.unwrap();
        assert_eq!(ranking.metrics.len(), 3);
        assert_eq!(ranking.metrics[0].effects.len(), 9);
    }
}

/// Half of the rows in their order, then the mirror image; the present configuration is spread between them.
#[test]
fn rows_are_run_by_halves_with_the_present_configuration_between_them() {
    let plan = screen(11, 3);
    assert_eq!((plan.cells.len(), plan.runs.len()), (25, 29));
    let mirrored = |run: &&weir_model::PlannedRun| {
        let screened = plan.cells[run.cell].screened.as_ref().unwrap();
        screened.part == weir_model::ScreenPart::MirroredRow
    };
    let first_half = &plan.runs[..14];
    assert_eq!(first_half.iter().filter(mirrored).count(), 0);
    let repeated = plan
        .runs
        .iter()
        .enumerate()
        .filter(|(_, run)| run.cell == 24);
    let positions: Vec<_> = repeated.map(|(position, _)| position).collect();
    assert_eq!(positions, [2, 8, 14, 20, 26]);
    let numbers = plan.runs.iter().filter(|run| run.cell == 24);
    assert!(numbers.map(|run| run.repetition).eq(1..=5));
    let of_row = |cell: &Cell| cell.screened.as_ref().unwrap().candidates.len();
    assert_eq!(of_row(&plan.cells[11]), 0);
    assert_eq!(of_row(&plan.cells[23]), 11);
    assert_eq!(screen(19, 3).runs.len(), 46);
}

/// A screen that was killed after any run goes on as if it had not been.
#[test]
fn a_screen_resumes_anywhere() {
    let mut whole = screen(11, 4);
    let designed = whole.clone();
    let records = run_measured(&mut whole, server(THREE, 0.02, Gauss::seeded(8)));
    assert!(records.len() > 29 + 12);
    assert_eq!(whole.as_designed(), designed);
    for count in [0, 1, 20, 28, 29, 30, 33, records.len() - 1, records.len()] {
        // The plan is stored with the first run of a confirmation.
        let mut stored = if count > 29 {
            whole.clone()
        } else {
            designed.clone()
        };
        let found = match next(&stored, &records[..count], &[], &[]).unwrap() {
            Next::Confirm(winners) => {
                crate::confirm(&mut stored, winners);
                next(&stored, &records[..count], &[], &[]).unwrap()
            }
            found => found,
        };
        let expected = match records.get(count) {
            Some(record) => Next::Run(weir_model::PlannedRun {
                cell: record.cell,
                repetition: record.repetition,
            }),
            None => Next::Done,
        };
        assert_eq!(found, expected, "after {count} runs");
        assert_eq!(
            stored.cells.len(),
            if count >= 29 { whole.cells.len() } else { 25 }
        );
    }
}

#[test]
fn what_a_screen_cannot_vary_is_refused() {
    let refused = |rest: &str| {
        let text = format!("{STUDY}[design]\nkind = \"screen\"\n{rest}");
        plan_from_text(&text, weir_model::Flavor::Mysql)
            .unwrap_err()
            .to_string()
    };
    let four = "[factors]\na = [0, 1]\nb = [0, 1]\nc = [0, 1]\n";
    let cases = [
        (four.to_owned(), "4 to 19 factors"),
        (format!("{four}d = [0, 1, 2]"), "two levels"),
        (
            format!("{four}drive = [\"a\", \"b\"]"),
            "server variables and changes of the data",
        ),
        (
            format!("{four}d = [0, 1]\n[repeat]\nruns = 3"),
            "repeat.runs",
        ),
        (format!("{four}d = [0, 1]\n[[exclude]]\nd = 0"), "exclude"),
    ];
    for (rest, why) in cases {
        let said = refused(&rest);
        assert!(said.contains(why), "{said}");
    }
}
