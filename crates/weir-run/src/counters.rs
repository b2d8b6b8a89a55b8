//! Counters of a server that an event has started again: they begin at 0 then, and go on here from where they were.

use std::collections::BTreeSet;

use weir_model::{MetricKind, Series, metrics};

/// Adds to each counter what it had when it began again.
pub(crate) fn go_on(all: &mut [Series]) {
    let counters = metrics::ALL.iter();
    let counters = counters.filter(|metric| metric.kind == MetricKind::Counter);
    let names: BTreeSet<_> = counters.map(|metric| metric.name).collect();
    for series in all {
        if names.contains(series.metric.as_str()) {
            add_up(&mut series.values);
        }
    }
}

fn add_up(values: &mut [f64]) {
    let (mut before, mut last) = (0.0, 0.0);
    for value in values {
        if *value < last {
            before += last;
        }
        last = *value;
        *value += before;
    }
}

#[cfg(test)]
mod tests {
    use super::add_up;

    #[test]
    fn a_counter_that_begins_again_goes_on() {
        let mut values = [5.0, 7.0, 1.0, 4.0, 2.0];
        add_up(&mut values);
        let whole = values.map(|value| value as u64);
        assert_eq!(whole, [5, 7, 8, 11, 13]);
    }
}
