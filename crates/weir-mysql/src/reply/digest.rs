//! Rows as numbers: equal for equal rows, as good as certainly others for others.

/// Digest of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerDigest {
    /// Sum of the rows' hashes: equal for the same rows in any order; 0 without rows.
    pub rows: u64,
    /// The same, with the order of the rows.
    pub rows_in_order: u64,
    /// Warnings that the server counted.
    pub warnings: u64,
    /// Number that an `AUTO_INCREMENT` column gave its (first) row; 0 for none.
    pub insert_id: u64,
}

impl AnswerDigest {
    /// Adds a row's bytes as the server sent them.
    pub(super) fn add(&mut self, row: &[u8]) {
        let hash = hash(row);
        self.rows = self.rows.wrapping_add(hash);
        self.rows_in_order = mixed(self.rows_in_order.rotate_left(1) ^ hash);
    }
}

/// FNV-1a over words of eight bytes, whose bits are mixed at the end (the finalizer of splitmix64; Steele, Lea and
/// Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    for word in bytes.chunks(8) {
        let mut whole = [0; 8];
        whole[..word.len()].copy_from_slice(word);
        hash = (hash ^ u64::from_le_bytes(whole)).wrapping_mul(0x0100_0000_01b3);
        hash ^= hash >> 29;
    }
    mixed(hash)
}

fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_a_difference_of_its_own_and_each_byte_is_one() {
        let whole = |rows: &[&[u8]]| {
            let mut digest = AnswerDigest::default();
            for row in rows {
                digest.add(row);
            }
            digest
        };
        let of = |rows: &[&[u8]]| whole(rows).rows;
        let [there, back] = [whole(&[b"one", b"two"]), whole(&[b"two", b"one"])];
        assert_ne!(there.rows_in_order, back.rows_in_order);
        assert_eq!(of(&[b"one", b"two"]), of(&[b"two", b"one"]));
        assert_ne!(of(&[b"one", b"two"]), of(&[b"one"]));
        assert_ne!(of(&[b"one", b"one"]), of(&[b"two", b"two"]));
        let row: Vec<u8> = (0..=255).collect();
        for at in 0..row.len() {
            let mut other = row.clone();
            other[at] ^= 1;
            assert_ne!(of(&[&row]), of(&[&other]), "{at}");
        }
        assert_ne!(of(&[b"a\0"]), of(&[b"a"]));
    }
}
