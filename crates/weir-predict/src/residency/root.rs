//! Root of a rising function.

/// Steps of the search; it needs about ten.
const STEPS_MAX: u32 = 80;
/// Relative width of the bracket at which it ends.
const TOLERANCE: f64 = 1e-10;
/// A value that is as good as 0.
const NOTHING: f64 = 1e-12;

/// The place between `low` and `high`, both above 0, where the rising function `of` is 0; the
/// nearer end if it is beyond one. The place is searched on a logarithmic scale by the false
/// position that halves the weight of an end that stays twice (the "Illinois" rule; Dowell and
/// Jarratt 1971), which converges faster than bisection and never leaves the bracket.
pub(crate) fn find_root(low: f64, high: f64, of: impl FnMut(f64) -> f64) -> f64 {
    find_root_within(NOTHING, low, high, of)
}

/// The same, where the function is nearer to 0 than `near`: what costs much to ask is asked no oftener than it has to be.
pub(crate) fn find_root_within(
    near: f64,
    low: f64,
    high: f64,
    mut of: impl FnMut(f64) -> f64,
) -> f64 {
    let (mut a, mut b) = (low.ln(), high.ln());
    let mut at_a = of(low);
    if at_a >= 0.0 {
        return low;
    }
    let mut at_b = of(high);
    if at_b <= 0.0 {
        return high;
    }
    let mut lowered = None;
    for _ in 0..STEPS_MAX {
        let guess = (a * at_b - b * at_a) / (at_b - at_a);
        let middle = if guess.is_finite() {
            guess
        } else {
            a.midpoint(b)
        };
        let found = of(middle.exp());
        let lowers = found > 0.0;
        let kept = if lowers {
            (b, at_b) = (middle, found);
            &mut at_a
        } else {
            (a, at_a) = (middle, found);
            &mut at_b
        };
        if lowered.replace(lowers) == Some(lowers) {
            *kept /= 2.0;
        }
        if b - a < TOLERANCE || found.abs() <= near {
            return middle.exp();
        }
    }
    a.midpoint(b).exp()
}

#[cfg(test)]
mod tests {
    use super::find_root;

    #[test]
    fn roots_are_found_and_ends_kept() {
        let root = find_root(1e-6, 1e9, |x| x * x - 2.0);
        assert!((root - 2.0_f64.sqrt()).abs() < 1e-8);
        assert!((find_root(3.0, 9.0, |x| x - 1.0) - 3.0).abs() < 1e-12);
        assert!((find_root(3.0, 9.0, |x| x - 10.0) - 9.0).abs() < 1e-12);
        let flat = find_root(1e-9, 1e9, |x: f64| -(-x / 1000.0).exp_m1() - 0.999_999);
        assert!((flat / 13_815.5 - 1.0).abs() < 1e-3, "{flat}");
    }
}
