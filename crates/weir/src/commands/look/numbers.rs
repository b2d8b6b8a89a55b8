//! Values in the units of a reader.

use weir_model::Bytes;
use weir_report::grouped;
use weir_server::look::{CounterValue, Unit};

/// A reading as `Innodb_log_waits 12/s`.
pub(super) fn reading(reading: &CounterValue) -> String {
    let value = match reading.unit {
        Unit::PerSecond => format!("{}/s", grouped(reading.value)),
        Unit::Bytes => bytes(reading.value),
        Unit::Seconds => seconds(reading.value),
        Unit::Fraction => percent(reading.value),
        Unit::Count => count(reading.value),
    };
    format!("{} {value}", reading.name)
}

/// A number of things, which are whole unless it is a mean.
pub(super) fn count(value: f64) -> String {
    let text = grouped(value);
    match text.split_once('.') {
        Some((whole, _)) if value.fract() == 0.0 => whole.to_owned(),
        _ => text,
    }
}

pub(super) fn bytes(value: f64) -> String {
    Bytes(value.max(0.0) as u64).to_string()
}

/// A part as a percentage.
pub(super) fn percent(part: f64) -> String {
    let decimals = if part < 0.01 && part > 0.0 { 2 } else { 0 };
    format!("{:.decimals$} %", part * 100.0)
}

/// A time, in the unit of its size.
pub(super) fn seconds(value: f64) -> String {
    match value {
        value if value < 1e-3 => format!("{:.0} us", value * 1e6),
        value if value < 1.0 => format!("{} ms", grouped(value * 1e3)),
        value if value < 120.0 => format!("{} s", grouped(value)),
        value if value < 7200.0 => format!("{:.0} min", value / 60.0),
        value if value < 172_800.0 => format!("{:.0} h", value / 3600.0),
        value => format!("{:.0} d", value / 86_400.0),
    }
}

/// A setting, `name = value`, with a size in units.
pub(super) fn setting(text: &str) -> String {
    let Some((name, value)) = text.split_once(" = ") else {
        return text.to_owned();
    };
    format!("{name} = {}", weir_model::in_units(value, &[]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_parts_have_the_unit_of_their_size() {
        for (value, text) in [
            (0.000_25, "250 us"),
            (0.0042, "4.20 ms"),
            (3.5, "3.50 s"),
            (1200.0, "20 min"),
            (10_800.0, "3 h"),
            (400_000.0, "5 d"),
        ] {
            assert_eq!(seconds(value), text);
        }
        assert_eq!(
            (percent(0.0012).as_str(), percent(0.5).as_str()),
            ("0.12 %", "50 %")
        );
        assert_eq!(
            setting("innodb_buffer_pool_size = 134217728"),
            "innodb_buffer_pool_size = 128M"
        );
    }
}
