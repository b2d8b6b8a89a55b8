//! A few measured numbers: the middle one, and how far the others are from it.

/// Numbers in their order.
pub(crate) struct Spread(Vec<f64>);

impl Spread {
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    pub(crate) fn all(&self) -> &[f64] {
        &self.0
    }

    /// Returns `38 (29 to 50)`, with so many decimals.
    pub(crate) fn text(&self, decimals: usize) -> String {
        let all = &self.0;
        let (middle, last) = (all[all.len() / 2], all[all.len() - 1]);
        format!(
            "{middle:.decimals$} ({:.decimals$} to {last:.decimals$})",
            all[0]
        )
    }
}
