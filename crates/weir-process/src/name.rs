//! Short names for long keys.

/// `bytes` as 16 hexadecimal digits (FNV-1a, 64 bits; Fowler, Noll and Vo). They are the same on every machine
/// and in every version of the program, which the standard library's hashers do not promise.
pub fn short_name(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::short_name;

    /// From the authors' test vectors.
    #[test]
    fn the_name_of_foobar_is_known() {
        assert_eq!(short_name(b"foobar"), "85944171f73967e8");
    }
}
