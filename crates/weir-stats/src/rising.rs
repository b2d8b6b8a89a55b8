//! The rising curve nearest to noisy means: pooling adjacent violators.
//!
//! Ayer, Brunk, Ewing, Reid and Silverman, "An empirical distribution function for sampling with
//! incomplete information", Annals of Mathematical Statistics 26, 1955.

/// `(mean, weight)` in the order of size; neighbours that fall get their weighted mean.
pub(crate) fn rising(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<f64> {
    // Each pool: mean, weight, number of points.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (mean, weight) in points {
        let mut pool = (mean, weight, 1);
        while let Some(last) = pools.pop_if(|last| last.0 > pool.0) {
            let weight = last.1 + pool.1;
            let mean = (last.0 * last.1 + pool.0 * pool.1) / weight;
            pool = (mean, weight, last.2 + pool.2);
        }
        pools.push(pool);
    }
    pools
        .into_iter()
        .flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falls_are_pooled_by_weight() {
        let found = rising([(1.0, 1.0), (3.0, 1.0), (2.0, 3.0), (5.0, 1.0)]);
        assert_eq!(found, [1.0, 2.25, 2.25, 5.0]);
        // 4 and 3 pool to 3.5, which 1 pulls down to 8 / 3.
        let cascade = rising([(4.0, 1.0), (3.0, 1.0), (1.0, 1.0)]);
        assert!(
            cascade
                .iter()
                .all(|height| (height - 8.0 / 3.0).abs() < 1e-12)
        );
        assert!(rising([]).is_empty());
    }
}
