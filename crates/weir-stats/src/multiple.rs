//! Corrections of p-values for many comparisons at once.
//!
//! Of twenty settings that do nothing, one will show an effect at 95 %. Benjamini and Hochberg's step-up
//! keeps the share of false ones among the findings at the level (Journal of the Royal Statistical Society
//! B 57, 1995). It assumes independent or positively dependent comparisons.

/// Adjusted p-values by Benjamini and Hochberg, in the order given: reject where at most the share
/// of false findings that is acceptable.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let count = p_values.len();
    let mut adjusted = vec![0.0; count];
    let mut smallest = 1.0_f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate().rev() {
        smallest = smallest.min(count as f64 / (rank + 1) as f64 * p_values[index]);
        adjusted[index] = smallest;
    }
    adjusted
}

/// Indices of the values from the smallest to the largest.
fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Noise;
    use crate::student::p_value;

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-12, "{found:?} is not {expected:?}");
        }
    }

    /// By hand: 0.04, 4/3 x 0.03 = 0.04, 2 x 0.01 and, since it may not rise, 0.02 again.
    #[test]
    fn benjamini_hochberg_by_hand() {
        let found = benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]);
        assert_close(&found, &[0.02, 0.04, 0.04, 0.02]);
    }

    /// The fifteen p-values of Benjamini and Hochberg's own example (thrombolysis, 1995): at 5 %
    /// their procedure rejects four hypotheses.
    #[test]
    fn the_example_of_the_paper() {
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let findings = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= 0.05).count();
        assert_eq!(findings(benjamini_hochberg(&p_values)), 4);
    }

    /// Twenty comparisons, ten of them of nothing, in 2,000 studies.
    #[test]
    fn errors_stay_at_their_level() {
        let mut noise = Noise::seeded(61);
        let (studies, cells, nothing) = (2_000, 20, 10);
        let (mut uncorrected, mut share) = (0.0, 0.0);
        for _ in 0..studies {
            let p_values: Vec<f64> = (0..cells)
                .map(|cell| {
                    let effect = if cell < nothing { 0.0 } else { 3.0 };
                    // So many degrees of freedom that the statistic is normal.
                    p_value(effect + noise.normal(), 1e6)
                })
                .collect();
            let false_findings =
                |p: &[f64]| p[..nothing].iter().filter(|p| **p <= 0.05).count() as f64;
            uncorrected += false_findings(&p_values).min(1.0);
            let adjusted = benjamini_hochberg(&p_values);
            let findings = adjusted.iter().filter(|p| **p <= 0.05).count();
            share += false_findings(&adjusted) / findings.max(1) as f64;
        }
        let rate = |sum: f64| sum / f64::from(studies);
        println!(
            "false findings: {:.3} uncorrected; share {:.3} Benjamini-Hochberg",
            rate(uncorrected),
            rate(share)
        );
        assert!(rate(uncorrected) > 0.3);
        assert!(rate(share) <= 0.05 + 0.01);
    }
}
