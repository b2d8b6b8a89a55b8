//! Reports larger than a message of the bus travel in parts, one after the other.
//!
//! The last report of a reactor has counters of each of its connections: with tens of thousands of them it is larger than
//! the 1 MB that a bus takes.

/// Most bytes of a part, without its mark.
const PART_BYTES_MAX: usize = 512 << 10;
/// First byte of a part: others follow, or it is the last.
const MORE: u8 = 1;
const LAST: u8 = 0;

/// The parts of a report, each a message.
pub(crate) fn parts(report: &[u8]) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for bytes in report.chunks(PART_BYTES_MAX) {
        let mut part = Vec::with_capacity(bytes.len() + 1);
        part.push(MORE);
        part.extend_from_slice(bytes);
        parts.push(part);
    }
    if let Some(last) = parts.last_mut() {
        last[0] = LAST;
    }
    parts
}

/// Puts parts that come in order together again.
#[derive(Debug, Default)]
pub(crate) struct Parts(Vec<u8>);

impl Parts {
    /// Takes the next part; the report, if it is complete with that.
    pub(crate) fn take(&mut self, part: &[u8]) -> Option<Vec<u8>> {
        let (mark, bytes) = part.split_first()?;
        self.0.extend_from_slice(bytes);
        (*mark == LAST).then(|| std::mem::take(&mut self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_any_size_arrive_as_they_were() {
        let mut together = Parts::default();
        for length in [1, PART_BYTES_MAX, PART_BYTES_MAX + 1, 3 * PART_BYTES_MAX] {
            let report: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let parts = parts(&report);
            assert_eq!(parts.len(), length.div_ceil(PART_BYTES_MAX));
            let (last, first) = parts.split_last().unwrap();
            assert!(first.iter().all(|part| together.take(part).is_none()));
            assert!(together.take(last) == Some(report));
        }
    }
}
