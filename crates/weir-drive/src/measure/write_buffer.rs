//! The write buffer, from one go of sequential writes to an idle drive.
//!
//! While the buffer has room, a drive accepts writes as fast as its interface; then as fast as its
//! media. The line of the second part, drawn back to the start, meets the bytes that are in the buffer.

/// Result of one go of writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    /// Bytes a second once the buffer is full.
    pub(crate) bytes_per_s: f64,
    /// Bytes of the buffer; `None` where it never filled, or is too small to be seen.
    pub(crate) buffer_bytes: Option<f64>,
}

/// The first part must be so much faster.
const FASTER: f64 = 1.3;
/// Operations that the buffer must hold to be seen.
const OPERATIONS_MIN: f64 = 6.0;

/// From the times at which writes of `bytes` were acknowledged, `latency_ns` after the buffer took them.
pub(crate) fn fill(ends_ns: &[u64], bytes: u64, latency_ns: u64) -> Option<Fill> {
    let bytes = bytes as f64;
    let latency_s = latency_ns as f64 / 1e9;
    let whole = tail_rate(ends_ns, bytes)?;
    let mut part = ends_ns;
    let mut buffer = None;
    // A small buffer is best seen near the start: the error of the line grows with the distance.
    for _ in 0..4 {
        let rate = tail_rate(part, bytes)?;
        let last_s = *part.last()? as f64 / 1e9 - latency_s;
        let intercept = part.len() as f64 * bytes - rate * last_s;
        if intercept < OPERATIONS_MIN * bytes || !is_faster(part, intercept / bytes, rate / bytes) {
            return Some(Fill {
                bytes_per_s: whole,
                buffer_bytes: None,
            });
        }
        buffer = Some(intercept);
        let near = (10.0 * intercept / bytes) as usize;
        if near >= part.len() || near < 20 {
            break;
        }
        part = &part[..near];
    }
    Some(Fill {
        bytes_per_s: whole,
        buffer_bytes: buffer,
    })
}

/// Bytes a second in the second half.
fn tail_rate(ends_ns: &[u64], bytes: f64) -> Option<f64> {
    let half = ends_ns.len() / 2;
    let seconds = (ends_ns.last()? - ends_ns.get(half)?) as f64 / 1e9;
    let operations = ends_ns.len() - 1 - half;
    (seconds > 0.0 && operations >= 4).then(|| operations as f64 * bytes / seconds)
}

/// Returns true if the first operations, which fit into the buffer, were accepted faster than the
/// rest.
fn is_faster(ends_ns: &[u64], in_buffer: f64, per_second: f64) -> bool {
    let count = ((in_buffer * 0.7) as usize).clamp(1, ends_ns.len());
    let seconds = ends_ns[count - 1] as f64 / 1e9;
    count as f64 / seconds.max(1e-9) > FASTER * per_second
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1_048_576.0;

    /// Ends of writes of 128 KiB: 8 GB/s until the buffer is full, 1 GB/s then.
    fn ends(buffer_bytes: f64, count: u32) -> Vec<u64> {
        let full_after = buffer_bytes / 7e9;
        let at = |number: u32| {
            let bytes = f64::from(number + 1) * 131_072.0;
            let in_buffer = 8e9 * full_after;
            let seconds = if bytes <= in_buffer {
                bytes / 8e9
            } else {
                full_after + (bytes - in_buffer) / 1e9
            };
            (seconds * 1e9) as u64
        };
        (0..count).map(at).collect()
    }

    #[test]
    fn the_buffer_is_what_was_accepted_beyond_the_medias_rate() {
        for mib in [2.0, 16.0, 200.0] {
            let found = fill(&ends(mib * MIB, 8000), 131_072, 0).unwrap();
            let buffer = found.buffer_bytes.unwrap();
            assert!((buffer / (mib * MIB) - 1.0).abs() < 0.05, "{mib}: {buffer}");
            assert!((found.bytes_per_s / 1e9 - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn a_buffer_that_never_fills_is_unknown() {
        let ends: Vec<u64> = (1..1000).map(|number| number * 1_000_000).collect();
        assert_eq!(fill(&ends, 131_072, 0).unwrap().buffer_bytes, None);
    }
}
