//! Plackett-Burman designs, folded over: which of many settings matter, in few runs.
//!
//! Each factor has two levels, and each effect is estimated from all runs. The mirror image of the design frees the
//! effects of single factors from those of pairs (Plackett and Burman, Biometrika 33, 1946; Box and Hunter,
//! Technometrics 3, 1961).

/// Most factors of a design.
pub const SCREENED_FACTORS_MAX: usize = 19;

/// First rows of the designs of 12 and of 20 runs; the other rows are its rotations and one without any candidate.
const FIRST_ROWS: [&str; 2] = ["++-+++---+-", "++--++++-+-+----++-"];

/// The rows of a design for `factors`, each with true where a factor has its candidate; the second half is the mirror
/// image of the first, row by row. 24 rows for up to 11 factors, 40 for up to 19; `None` for more, or for none.
pub fn plackett_burman(factors: usize) -> Option<Vec<Vec<bool>>> {
    let first = FIRST_ROWS.iter().find(|row| row.len() >= factors)?;
    if factors == 0 {
        return None;
    }
    let signs: Vec<bool> = first.chars().map(|sign| sign == '+').collect();
    let rotated = |by: usize| {
        let row = signs.iter().cycle().skip(signs.len() - by);
        row.take(factors).copied().collect()
    };
    let mut rows: Vec<Vec<bool>> = (0..signs.len()).map(rotated).collect();
    rows.push(vec![false; factors]);
    let mirror = |row: &Vec<bool>| row.iter().map(|candidate| !candidate).collect();
    let mirrored: Vec<_> = rows.iter().map(mirror).collect();
    rows.extend(mirrored);
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum over rows of the product of the columns' signs.
    fn product(rows: &[Vec<bool>], columns: &[usize]) -> i32 {
        let sign = |candidate: bool| if candidate { 1 } else { -1 };
        let of_row = |row: &Vec<bool>| -> i32 { columns.iter().map(|&c| sign(row[c])).product() };
        rows.iter().map(of_row).sum()
    }

    #[test]
    fn columns_are_balanced_and_orthogonal_in_each_half() {
        for factors in 1..=SCREENED_FACTORS_MAX {
            let rows = plackett_burman(factors).unwrap();
            assert_eq!(rows.len(), if factors <= 11 { 24 } else { 40 });
            for half in rows.chunks(rows.len() / 2) {
                for one in 0..factors {
                    assert_eq!(product(half, &[one]), 0);
                    for other in 0..one {
                        assert_eq!(product(half, &[one, other]), 0);
                    }
                }
            }
        }
        assert_eq!(plackett_burman(0), None);
        assert_eq!(plackett_burman(SCREENED_FACTORS_MAX + 1), None);
    }

    #[test]
    fn a_pair_of_factors_cannot_pass_for_an_effect() {
        for factors in [11, 19] {
            let rows = plackett_burman(factors).unwrap();
            for one in 0..factors {
                for other in 0..one {
                    for effect in 0..factors {
                        assert_eq!(product(&rows, &[one, other, effect]), 0);
                    }
                }
            }
        }
    }
}
