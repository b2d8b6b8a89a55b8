//! The collector against the closed form, and what moves it.

use super::Ftl;
use crate::model::amplification::factor_of_alpha;
use crate::model::random::Random;

const PAGES: u32 = 131_072;

/// Amplification over `writes` pages that `choose` picks.
fn amplification(
    ftl: &mut Ftl,
    writes: u32,
    fraction: f64,
    mut choose: impl FnMut(u32) -> u32,
) -> f64 {
    let mut inverse_sum = 0.0;
    for number in 0..writes {
        assert!(ftl.write(choose(number), fraction));
        inverse_sum += ftl.amplification();
    }
    inverse_sum / f64::from(writes)
}

fn uniform(pages: u32) -> impl FnMut(u32) -> u32 {
    // A seed of its own: writes that repeat an earlier sequence would find it laid out in order.
    let mut random = Random::seeded(u64::from(pages));
    move |_| random.below(u64::from(pages)) as u32
}

/// `share` of the writes go to the first `hot` pages, the rest to the others.
fn skewed(share: f64, hot: u32) -> impl FnMut(u32) -> u32 {
    let mut random = Random::seeded(11);
    move |_| {
        if random.unit() < share {
            random.below(u64::from(hot)) as u32
        } else {
            hot + random.below(u64::from(PAGES - hot)) as u32
        }
    }
}

fn steady(spare: f64, pages: u32, fraction: f64) -> Ftl {
    let mut ftl = Ftl::new(PAGES, spare);
    ftl.precondition(pages, fraction);
    ftl
}

#[test]
fn uniform_random_writes_agree_with_the_closed_form() {
    for spare in [0.07, 0.15, 0.28, 0.50, 1.00] {
        let mut ftl = steady(spare, PAGES, 1.0);
        let found = amplification(&mut ftl, PAGES, 1.0, uniform(PAGES));
        let wanted = factor_of_alpha(1.0 + spare);
        assert!(
            (found / wanted - 1.0).abs() < 0.03,
            "spare {spare}: {found}, closed form {wanted}"
        );
    }
}

#[test]
fn what_is_not_filled_is_spare() {
    let pages = PAGES / 10 * 7;
    let mut ftl = steady(0.15, pages, 1.0);
    let found = amplification(&mut ftl, pages, 1.0, uniform(pages));
    let wanted = factor_of_alpha(1.15 / 0.7);
    assert!((found / wanted - 1.0).abs() < 0.03, "{found}, {wanted}");
}

#[test]
fn what_compression_saves_is_spare() {
    let mut ftl = steady(0.15, PAGES, 0.5);
    let found = amplification(&mut ftl, PAGES, 0.5, uniform(PAGES));
    let wanted = factor_of_alpha(1.15 / 0.5);
    assert!((found / wanted - 1.0).abs() < 0.03, "{found}, {wanted}");
}

#[test]
fn compression_makes_room_for_more_logical_pages_than_there_is_flash() {
    let mut ftl = Ftl::new(PAGES, 0.15);
    ftl.precondition(PAGES * 2, 0.5);
    let found = amplification(&mut ftl, PAGES, 0.5, uniform(PAGES * 2));
    let wanted = factor_of_alpha(1.15);
    assert!((found / wanted - 1.0).abs() < 0.03, "{found}, {wanted}");
}

#[test]
fn skewed_writes_cost_less_than_uniform_ones() {
    let cost = |share: f64, hot: u32| {
        let mut ftl = steady(0.15, PAGES, 1.0);
        let mut choose = skewed(share, hot);
        amplification(&mut ftl, PAGES, 1.0, &mut choose);
        amplification(&mut ftl, PAGES, 1.0, &mut choose)
    };
    let uniform = factor_of_alpha(1.15);
    let (mild, strong) = (cost(0.9, PAGES / 10), cost(0.99, PAGES / 100));
    assert!(mild < 0.75 * uniform, "{mild}, {uniform}");
    assert!(strong < 0.6 * mild, "{strong}, {mild}");
}

#[test]
fn data_at_rest_leave_spare_space_to_what_is_written() {
    let mut ftl = steady(0.15, PAGES, 1.0);
    let mut choose = skewed(1.0, PAGES / 10);
    amplification(&mut ftl, 2 * PAGES, 1.0, &mut choose);
    let found = amplification(&mut ftl, PAGES, 1.0, &mut choose);
    assert!(found < 0.5 * factor_of_alpha(1.15), "{found}");
}

#[test]
fn sequential_overwrites_settle_at_no_amplification() {
    let mut ftl = steady(0.07, PAGES, 1.0);
    amplification(&mut ftl, 2 * PAGES, 1.0, |number| number % PAGES);
    let found = amplification(&mut ftl, PAGES, 1.0, |number| number % PAGES);
    assert!(found < 1.05, "{found}");
}

#[test]
fn discarded_pages_are_spare_until_they_are_written_again() {
    let mut ftl = steady(0.07, PAGES, 1.0);
    let full = amplification(&mut ftl, PAGES / 2, 1.0, uniform(PAGES));
    let half = PAGES / 2;
    (half..PAGES).for_each(|page| ftl.discard(page));
    let mut choose = uniform(half);
    amplification(&mut ftl, PAGES, 1.0, &mut choose);
    let trimmed = amplification(&mut ftl, half, 1.0, &mut choose);
    let wanted = factor_of_alpha(1.07 * 2.0);
    assert!(
        full > 6.0 && (trimmed / wanted - 1.0).abs() < 0.05,
        "{full}, {trimmed}"
    );
}

#[test]
fn a_fresh_drive_has_no_amplification() {
    let mut ftl = Ftl::new(PAGES, 0.07);
    assert!((amplification(&mut ftl, PAGES, 1.0, |page| page) - 1.0).abs() < 1e-9);
}

#[test]
fn a_drive_that_live_data_overfill_refuses_the_page_and_goes_on() {
    let mut ftl = Ftl::new(1024, 0.1);
    let stored = (0..4096).filter(|&page| ftl.write(page, 1.0)).count();
    assert!((1024..=1024 + 512).contains(&stored), "{stored}");
    (0..512).for_each(|page| ftl.discard(page));
    assert!(ftl.write(0, 1.0));
}
