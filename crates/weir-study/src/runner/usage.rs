//! How busy each resource was, and which one limited a run.

use weir_model::{Limiter, Metric, Sample, Utilization, metrics};

/// Growth of `counter` per second between the samples nearest to `from_s` and `to_s`.
///
/// `None` when there are not two samples to compare.
fn rate(samples: &[Sample], counter: Metric, from_s: f64, to_s: f64) -> Option<f64> {
    let nearest = |time_s: f64| {
        let of_metric = samples
            .iter()
            .filter(|sample| sample.metric == counter.name);
        of_metric.min_by(|a, b| {
            (a.time_s - time_s)
                .abs()
                .total_cmp(&(b.time_s - time_s).abs())
        })
    };
    let (first, last) = (nearest(from_s)?, nearest(to_s)?);
    let elapsed_s = last.time_s - first.time_s;
    (elapsed_s > 0.0).then(|| (last.value - first.value) / elapsed_s)
}

/// Utilisation between 0 and `measured_s`, from the probes' samples.
///
/// `client_cpu` is the busiest reactor's share of a core, which no probe sees from outside.
pub(super) fn utilization(samples: &[Sample], measured_s: f64, client_cpu: f64) -> Utilization {
    let rate = |metric| rate(samples, metric, 0.0, measured_s).unwrap_or(0.0);
    let busy = rate(metrics::HOST_CPU_USER) + rate(metrics::HOST_CPU_SYSTEM);
    let stolen = rate(metrics::HOST_CPU_STEAL);
    let waiting = rate(metrics::HOST_CPU_IOWAIT);
    let all = busy + stolen + waiting + rate(metrics::HOST_CPU_IDLE);
    let share = |part: f64| if all > 0.0 { part / all } else { 0.0 };
    Utilization {
        host_cpu: share(busy + stolen),
        server_cores: rate(metrics::SERVER_CPU),
        client_cpu,
        drive_cores: rate(metrics::DRIVE_CPU),
        drive_read: rate(metrics::DRIVE_READ_BUSY),
        drive_write: rate(metrics::DRIVE_WRITE_BUSY),
        steal: share(stolen),
        iowait: share(waiting),
    }
}

/// The most saturated resource; [`Limiter::Waiting`] when none is.
pub(super) fn limiter(utilization: &Utilization) -> Limiter {
    let candidates = [
        (utilization.drive_write, Limiter::DriveWrite),
        (utilization.drive_read, Limiter::DriveRead),
        (utilization.host_cpu, Limiter::HostCpu),
        (utilization.client_cpu, Limiter::Client),
    ];
    let busiest = candidates.into_iter().max_by(|a, b| a.0.total_cmp(&b.0));
    match busiest {
        Some((share, limiter)) if share >= Utilization::SATURATED => limiter,
        _ => Limiter::Waiting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(metric: Metric, values: &[(f64, f64)]) -> Vec<Sample> {
        let sample = |&(time_s, value)| Sample {
            metric: metric.name.into(),
            time_s,
            value,
        };
        values.iter().map(sample).collect()
    }

    #[test]
    fn rates_span_the_measurement_only() {
        let found = samples(
            metrics::SERVER_CPU,
            &[
                (-2.0, 0.0),
                (0.1, 4.0),
                (1.0, 5.0),
                (10.0, 14.0),
                (12.0, 99.0),
            ],
        );
        let used = utilization(&found, 10.2, 0.0);
        assert!((used.server_cores - 10.0 / 9.9).abs() < 1e-9, "{used:?}");
    }

    #[test]
    fn host_cpu_is_a_share_of_all_time() {
        let mut found = samples(metrics::HOST_CPU_USER, &[(0.0, 0.0), (10.0, 12.0)]);
        found.extend(samples(
            metrics::HOST_CPU_SYSTEM,
            &[(0.0, 0.0), (10.0, 3.0)],
        ));
        found.extend(samples(metrics::HOST_CPU_IDLE, &[(0.0, 0.0), (10.0, 5.0)]));
        let used = utilization(&found, 10.0, 0.0);
        assert!((used.host_cpu - 0.75).abs() < 1e-9, "{used:?}");
    }

    #[test]
    fn the_most_saturated_resource_is_the_limiter() {
        let idle = Utilization::default();
        assert_eq!(limiter(&idle), Limiter::Waiting);
        let cases = [
            (
                Utilization {
                    drive_write: 0.9,
                    host_cpu: 0.86,
                    ..idle
                },
                Limiter::DriveWrite,
            ),
            (
                Utilization {
                    drive_read: 0.99,
                    drive_write: 0.5,
                    ..idle
                },
                Limiter::DriveRead,
            ),
            (
                Utilization {
                    host_cpu: 0.97,
                    drive_read: 0.8,
                    ..idle
                },
                Limiter::HostCpu,
            ),
            (
                Utilization {
                    client_cpu: 0.95,
                    host_cpu: 0.5,
                    ..idle
                },
                Limiter::Client,
            ),
            (
                Utilization {
                    drive_write: 0.8,
                    host_cpu: 0.8,
                    ..idle
                },
                Limiter::Waiting,
            ),
        ];
        for (used, expected) in cases {
            assert_eq!(limiter(&used), expected, "{used:?}");
        }
    }
}
