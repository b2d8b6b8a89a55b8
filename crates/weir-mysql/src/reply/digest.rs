//! Rows as a number: equal for equal rows in any order, as good as certainly another one for others.

/// The sum of the rows' hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RowsDigest(pub(super) u64);

impl RowsDigest {
    /// Adds a row's bytes as the server sent them.
    pub(super) fn add(&mut self, row: &[u8]) {
        self.0 = self.0.wrapping_add(hash(row));
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
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_makes_no_difference_and_each_byte_does() {
        let of = |rows: &[&[u8]]| {
            let mut digest = RowsDigest::default();
            for row in rows {
                digest.add(row);
            }
            digest
        };
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
