//! Oracle: random statements, executed twice on the same data, in two schemas by two accounts at two times. A statement
//! with another outcome has a source of difference. A statement that was made without one is given none.
//!
//! Each source that can differ on one server is shown to differ.

#![allow(
    clippy::print_stdout,
    reason = "its figures are what a long run is for"
)]

mod statements;
mod world;

use weir_model::Flavor;
use weir_mysql::{DifferenceExtent, difference_sources};
use weir_testing::Random;

use statements::RandomStatement;
use world::{Outcome, World};

weir_testing::on_both_flavors! { what_differs_has_a_source_and_what_has_none_is_given_none }

/// Statements of a run, in batches that both schemas execute one after the other.
const BATCHES: u64 = 12;
const BATCH: usize = 60;

fn what_differs_has_a_source_and_what_has_none_is_given_none(flavor: Flavor) {
    let first = std::env::var("WEIR_DIFFERENCE_SEED").ok();
    let first: u64 = first.and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("{flavor:?}: WEIR_DIFFERENCE_SEED={first}");
    let mut world = World::start(flavor);
    for (made, one, two) in world.execute(&statements::each_source(flavor)) {
        judge(made, &one, &two);
        assert_ne!(one, two, "{made:?} is the same in both schemas");
    }
    let (mut differed, mut accepted, mut all) = (0, 0, 0);
    for seed in first..first + BATCHES {
        let mut random = Random::new(seed);
        let made: Vec<_> = (0..BATCH)
            .map(|_| statements::random(&mut random, flavor))
            .collect();
        for (made, one, two) in world.execute(&made) {
            judge(made, &one, &two);
            all += 1;
            accepted += u64::from(one.error == 0 || two.error == 0);
            differed += u64::from(one != two);
        }
    }
    println!("{flavor:?}: {accepted} of {all} statements accepted, {differed} differ");
    assert!(accepted * 10 > all * 9, "{accepted} of {all}");
}

fn judge(made: &RandomStatement, one: &Outcome, two: &Outcome) {
    let sql = &made.sql;
    let found = difference_sources(sql.as_bytes());
    let has = |extent| found.iter().any(|source| source.extent == extent);
    assert_eq!(
        has(DifferenceExtent::Outcome),
        !made.sources.is_empty(),
        "{sql}: made with {:?}, found {found:?}",
        made.sources
    );
    if one.in_any_order() != two.in_any_order() {
        assert!(has(DifferenceExtent::Outcome), "{sql}: {one:?}, {two:?}");
    } else if one != two {
        assert!(!found.is_empty(), "{sql}: {one:?}, {two:?}");
    }
    assert_eq!(
        has(DifferenceExtent::Order),
        made.lacks_order,
        "{sql}: {found:?}"
    );
}
