//! Which resource limited a run: decided by utilisation and by where the connections were, in the
//! order that `docs/limiter.md` gives with its reasons.

use weir_model::{ConnectionTime, Limiter, Utilization};

/// From this share of the time on in which some task waited for memory, all other waits are
/// consequences of it.
const MEMORY_STALLED: f64 = 0.20;

/// From this share of the connections on, those that wait for each other's locks are the limit,
/// however busy the rest is: more of anything else would only make the queue longer.
const LOCKED: f64 = 0.50;

/// Below this share of busy connections a load with a rate of its own leaves room.
const OFFERED: f64 = 0.85;

/// From this share of the host's cores on, others limit a run that wants cores and whose connections are nowhere
/// else.
const TAKEN_BY_OTHERS: f64 = 0.25;

/// A place must hold this share of the connections to be called the limit.
const LARGEST_MIN: f64 = 0.30;

/// The resource that limited a run; `has_rate` if the load had a rate of its own.
pub(crate) fn bottleneck(used: &Utilization, has_rate: bool) -> Limiter {
    let connections = &used.connections;
    let share = |place: Option<f64>| place.unwrap_or(0.0) / connections.busy.max(f64::MIN_POSITIVE);
    if used.client_cpu >= Utilization::SATURATED {
        Limiter::ClientCpu
    } else if used.memory.unwrap_or(0.0) >= MEMORY_STALLED {
        Limiter::Memory
    } else if share(connections.lock) >= LOCKED {
        Limiter::Lock
    } else if let Some(saturated) = saturated(used) {
        saturated
    } else if has_rate && connections.busy < OFFERED * connections.all {
        Limiter::OfferedRate
    } else {
        match largest(connections, used.client_cores) {
            // In turns, with moments of idleness between.
            Limiter::Unexplained if used.wants_cores() => of_cores(used).unwrap_or_else(|| {
                if used.others_share() >= TAKEN_BY_OTHERS {
                    Limiter::OtherProcesses
                } else {
                    Limiter::Unexplained
                }
            }),
            place => place,
        }
    }
}

/// The most saturated resource, if one is.
fn saturated(used: &Utilization) -> Option<Limiter> {
    let of_server = if used.server_cores_allowed > 0.0 {
        used.server_cores / used.server_cores_allowed
    } else {
        0.0
    };
    let cores = of_cores(used).map(|limiter| (used.host_cpu, limiter));
    [
        (used.drive_write, Limiter::DriveWrite),
        (used.drive_read, Limiter::DriveRead),
        (of_server, Limiter::ServerCpu),
    ]
    .into_iter()
    .chain(cores)
    .filter(|(share, _)| *share >= Utilization::SATURATED)
    .max_by(|a, b| a.0.total_cmp(&b.0))
    .map(|(_, limiter)| limiter)
}

/// Whose limit busy cores are: the server's unless Weir itself took most of them. If others on the host did, they slow
/// everything down alike and are not what the run went to.
fn of_cores(used: &Utilization) -> Option<Limiter> {
    let of_weir = used.client_cores + used.drive_cores;
    let is_of_run = used.server_cores + of_weir >= 0.5 * used.host_cpu * used.host_cores;
    is_of_run.then_some(if used.server_cores >= of_weir {
        Limiter::ServerCpu
    } else {
        Limiter::ClientCpu
    })
}

/// Nothing is saturated, so most time went where most connections were.
fn largest(connections: &ConnectionTime, client_cores: f64) -> Limiter {
    let places = [
        (Some(connections.server_cpu), Limiter::ServerCpu),
        (Some(client_cores), Limiter::ClientCpu),
        (connections.read, Limiter::DriveRead),
        (connections.free_page, Limiter::DriveWrite),
        (connections.flush, Limiter::Flush),
        (connections.lock, Limiter::Lock),
        (connections.network, Limiter::Network),
    ];
    let known = places
        .into_iter()
        .filter_map(|(place, limiter)| Some((place?, limiter)));
    match known.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((place, limiter)) if place >= LARGEST_MIN * connections.busy => limiter,
        _ => Limiter::Unexplained,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixteen connections, none of which is anywhere.
    fn idle() -> Utilization {
        Utilization {
            host_cores: 2.0,
            server_cores_allowed: 2.0,
            connections: ConnectionTime {
                all: 16.0,
                busy: 16.0,
                ..ConnectionTime::default()
            },
            ..Utilization::default()
        }
    }

    fn at(place: impl Fn(&mut ConnectionTime)) -> Utilization {
        let mut used = idle();
        place(&mut used.connections);
        used
    }

    #[test]
    fn the_most_saturated_resource_is_the_bottleneck() {
        let cases = [
            (0.9, 0.0, 0.86, Limiter::DriveWrite),
            (0.5, 0.99, 0.0, Limiter::DriveRead),
            (0.0, 0.8, 0.97, Limiter::ServerCpu),
            (0.8, 0.8, 0.8, Limiter::Unexplained),
        ];
        for (drive_write, drive_read, host_cpu, expected) in cases {
            let used = Utilization {
                drive_write,
                drive_read,
                host_cpu,
                server_cores: 1.2,
                client_cores: 0.4,
                ..idle()
            };
            assert_eq!(bottleneck(&used, false), expected, "{used:?}");
        }
    }

    #[test]
    fn saturated_cores_are_whose_who_used_them() {
        let used = |server_cores, client_cores| Utilization {
            host_cpu: 0.97,
            server_cores,
            client_cores,
            ..idle()
        };
        assert_eq!(bottleneck(&used(1.2, 0.7), false), Limiter::ServerCpu);
        assert_eq!(bottleneck(&used(0.7, 1.2), false), Limiter::ClientCpu);
        // Somebody else's work on the host, who may not be known.
        assert_eq!(bottleneck(&used(0.4, 0.1), false), Limiter::Unexplained);
        let others = Utilization {
            other_cores: 1.4,
            ..used(0.4, 0.1)
        };
        assert_eq!(bottleneck(&others, false), Limiter::OtherProcesses);
        let reading = Utilization {
            connections: at(|c| c.read = Some(9.0)).connections,
            ..others
        };
        assert_eq!(bottleneck(&reading, false), Limiter::DriveRead);
        let pinned = Utilization {
            server_cores: 0.98,
            server_cores_allowed: 1.0,
            host_cpu: 0.6,
            ..idle()
        };
        assert_eq!(bottleneck(&pinned, false), Limiter::ServerCpu);
    }

    #[test]
    fn without_a_saturated_resource_it_is_where_the_connections_are() {
        let cases = [
            (at(|c| c.read = Some(14.0)), Limiter::DriveRead),
            (at(|c| c.flush = Some(9.0)), Limiter::Flush),
            (at(|c| c.free_page = Some(9.0)), Limiter::DriveWrite),
            (at(|c| c.network = Some(15.0)), Limiter::Network),
            (at(|c| c.server_cpu = 6.0), Limiter::ServerCpu),
            (at(|c| c.lock = Some(7.0)), Limiter::Lock),
            (at(|c| c.read = Some(2.0)), Limiter::Unexplained),
        ];
        for (used, expected) in cases {
            assert_eq!(bottleneck(&used, false), expected, "{used:?}");
        }
    }

    #[test]
    fn what_makes_other_waits_comes_first() {
        let busy = Utilization {
            host_cpu: 0.99,
            drive_write: 0.9,
            ..at(|c| c.lock = Some(12.0))
        };
        assert_eq!(bottleneck(&busy, false), Limiter::Lock);
        let memory = Utilization {
            memory: Some(0.4),
            ..busy
        };
        assert_eq!(bottleneck(&memory, false), Limiter::Memory);
        let client = Utilization {
            client_cpu: 0.95,
            ..memory
        };
        assert_eq!(bottleneck(&client, false), Limiter::ClientCpu);
    }

    #[test]
    fn cores_that_are_waited_for_are_the_limit_of_whoever_is_nowhere_else() {
        let used = Utilization {
            host_cpu: 0.7,
            core_wait: Some(0.7),
            server_cores: 1.0,
            drive_cores: 0.3,
            ..idle()
        };
        assert_eq!(bottleneck(&used, false), Limiter::ServerCpu);
        let of_drive = Utilization {
            drive_cores: 1.1,
            server_cores: 0.3,
            ..used.clone()
        };
        assert_eq!(bottleneck(&of_drive, false), Limiter::ClientCpu);
        let reading = Utilization {
            connections: at(|c| c.read = Some(9.0)).connections,
            ..used.clone()
        };
        assert_eq!(bottleneck(&reading, false), Limiter::DriveRead);
        let calm = Utilization {
            core_wait: Some(0.3),
            ..used
        };
        assert_eq!(bottleneck(&calm, false), Limiter::Unexplained);
    }

    #[test]
    fn a_rate_that_was_kept_is_the_limit() {
        let used = at(|c| {
            c.busy = 3.0;
            c.flush = Some(2.5);
        });
        assert_eq!(bottleneck(&used, true), Limiter::OfferedRate);
        assert_eq!(bottleneck(&used, false), Limiter::Flush);
    }
}
