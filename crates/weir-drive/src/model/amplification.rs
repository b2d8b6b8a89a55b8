//! Write amplification of garbage collection, in closed form.
//!
//! Xiang and Kurkoski (arXiv 1110.4245): uniform random writes, greedy collection, large blocks,
//! `a` = physical / live pages: `WA = a / (a + W0(-a e^-a))` with Lambert's W. It depends on `a`
//! alone, so a scaled drive has the amplification of the full-size one.
//!
//! Compression frees over-provisioning: data that shrink to the fraction `c` leave `a / c`.

/// Physical / live pages of a drive, and what follows from it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amplification {
    /// `None`: no amplification at any fill (the limit of `a` at infinity).
    alpha: Option<f64>,
}

impl Amplification {
    /// The drive whose random writes of incompressible data cost `factor` (>= 1) media bytes each.
    ///
    /// Inverse of the closed form: with `w = W0(-a e^-a)`, `WA = a / (a + w)` gives `w = -r a` for
    /// `r = (WA - 1) / WA`, and `w e^w = -a e^-a` then gives `a = WA ln(WA / (WA - 1))`.
    pub(super) fn from_factor(factor: f64) -> Self {
        let alpha = (factor > 1.0 + 1e-9).then(|| factor * (factor / (factor - 1.0)).ln());
        Self { alpha }
    }

    /// Media bytes per stored byte when data shrink to `compressed_fraction` (in (0, 1]).
    pub(super) fn factor(self, compressed_fraction: f64) -> f64 {
        self.alpha
            .map_or(1.0, |alpha| factor_of_alpha(alpha / compressed_fraction))
    }
}

pub(super) fn factor_of_alpha(alpha: f64) -> f64 {
    alpha / (alpha + lambert_w0(-alpha * (-alpha).exp()))
}

/// Lambert's W, principal branch, on `[-1/e, 0)`: the `w >= -1` with `w e^w = x`.
///
/// Newton's method from the branch point's expansion `-1 + sqrt(2 (1 + e x))` (Corless et al.,
/// 1996, section 4), which lies below the root of a function that is convex there, so that the
/// steps overshoot once and then fall quadratically.
fn lambert_w0(x: f64) -> f64 {
    let distance = (2.0 * (1.0 + std::f64::consts::E * x)).max(0.0);
    let mut w = -1.0 + distance.sqrt();
    for _ in 0..20 {
        let slope = w.exp() * (w + 1.0);
        if slope.abs() < 1e-12 {
            break;
        }
        let step = (w * w.exp() - x) / slope;
        w -= step;
        if step.abs() < 1e-14 {
            break;
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambert_w_solves_its_equation() {
        for x in [-0.367, -0.36, -0.3, -0.2, -0.1, -0.01, -1e-6] {
            let w = lambert_w0(x);
            assert!((w * w.exp() - x).abs() < 1e-12 && w >= -1.0, "W0({x})={w}");
        }
    }

    /// Over-provisioning -> amplification, from the closed form's published points.
    #[test]
    fn over_provisioning_gives_the_published_amplification() {
        let table = [
            (0.07, 7.8),
            (0.10, 5.7),
            (0.15, 4.0),
            (0.20, 3.2),
            (0.28, 2.5),
            (0.30, 2.36),
            (0.33, 2.2),
            (0.50, 1.7),
            (1.00, 1.26),
            (1.50, 1.12),
            (2.00, 1.06),
        ];
        for (spare, factor) in table {
            let found = factor_of_alpha(1.0 + spare);
            assert!(
                (found / factor - 1.0).abs() < 0.025,
                "spare {spare}: {found}, published {factor}"
            );
        }
    }

    #[test]
    fn the_inverse_returns_the_factor_it_was_made_of() {
        for factor in [1.06, 1.26, 2.36, 3.33, 7.8] {
            let found = Amplification::from_factor(factor).factor(1.0);
            assert!((found / factor - 1.0).abs() < 1e-6, "{factor}: {found}");
        }
        assert!((Amplification::from_factor(1.0).factor(0.5) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn compression_frees_spare_space() {
        // 28 % spare and 2:1: 0.5 x 1.11 instead of 2.48 (drives-and-crashes reference, 2).
        let amplification = Amplification { alpha: Some(1.28) };
        let stored = 0.5 * amplification.factor(0.5);
        assert!((stored - 0.56).abs() < 0.01, "{stored}");
    }
}
