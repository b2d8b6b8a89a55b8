//! Network interfaces: `/proc/net/dev` (`proc_pid_net(5)`).

use weir_model::metrics;

use crate::probe_parts::Part;
use crate::proc_file::ProcFile;
use crate::{ProbeError, Readings};

const NET_DEV: &str = "/proc/net/dev";

/// All interfaces that were ever used, the loopback among them.
#[derive(Debug)]
pub(super) struct Network(ProcFile);

impl Default for Network {
    fn default() -> Self {
        Self(ProcFile::new(NET_DEV))
    }
}

impl Part<()> for Network {
    fn name(&self) -> &'static str {
        NET_DEV
    }

    fn read(&mut self, (): &mut (), readings: &mut Readings) -> Result<(), ProbeError> {
        // Two lines of headings.
        for line in self.0.read()?.lines().skip(2) {
            add_interface(line, readings);
        }
        Ok(())
    }
}

/// `name: bytes packets errs drop fifo frame compressed multicast`, then the same of sending with
/// `colls carrier` for `frame` and without `multicast`.
fn add_interface(line: &str, readings: &mut Readings) -> Option<()> {
    let (name, counters) = line.split_once(':')?;
    let name = name.trim();
    let mut counters = counters.split_ascii_whitespace();
    let mut skip_to = |distance: usize| counters.nth(distance)?.parse::<f64>().ok();
    let (received, received_packets) = (skip_to(0)?, skip_to(0)?);
    let received_dropped = skip_to(1)?;
    let (sent, sent_packets) = (skip_to(4)?, skip_to(0)?);
    let sent_dropped = skip_to(1)?;
    if received_packets + sent_packets > 0.0 {
        readings.add_of(metrics::HOST_NETWORK_RECEIVED, name, received);
        readings.add_of(metrics::HOST_NETWORK_SENT, name, sent);
        readings.add_of(
            metrics::HOST_NETWORK_RECEIVED_PACKETS,
            name,
            received_packets,
        );
        readings.add_of(metrics::HOST_NETWORK_SENT_PACKETS, name, sent_packets);
        let dropped = received_dropped + sent_dropped;
        readings.add_of(metrics::HOST_NETWORK_DROPPED, name, dropped);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_has_both_directions_and_an_unused_one_nothing() {
        let mut readings = Readings::default();
        for line in [
            "  eth0: 2363184322   70821    0    3    0     0          0         0  4718722   46844    0    4    0     0       0          0",
            "  ifb0:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0",
        ] {
            add_interface(line, &mut readings);
        }
        for (metric, value) in [
            (metrics::HOST_NETWORK_RECEIVED, 2_363_184_322.0),
            (metrics::HOST_NETWORK_RECEIVED_PACKETS, 70_821.0),
            (metrics::HOST_NETWORK_SENT, 4_718_722.0),
            (metrics::HOST_NETWORK_SENT_PACKETS, 46_844.0),
            (metrics::HOST_NETWORK_DROPPED, 7.0),
        ] {
            assert_eq!(
                readings.value_of(metric, "eth0"),
                Some(value),
                "{}",
                metric.name
            );
        }
        assert_eq!(readings.pending().count(), 5);
    }
}
