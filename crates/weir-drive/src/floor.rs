//! Limits of real-time emulation on this kind of machine.

use weir_model::DriveProfile;

use crate::DriveError;

/// Round trip of an immediately answered 4 KiB or 16 KiB read at queue depth 1, microseconds.
///
/// Measured on a virtual machine of two cores, Linux 6.18: 6.6 us (4 KiB) and 9.3 us (16 KiB).
pub const READ_FLOOR_US: f64 = 10.0;

/// Round trip of an immediately answered 16 KiB write at queue depth 1, microseconds.
///
/// Measured on the same machine: 10.0 us.
pub const WRITE_FLOOR_US: f64 = 12.0;

/// A profile at or below this in reads and writes claims no latency of its own (`null`).
const NO_LATENCY_US: f64 = 1.0;

/// Refuses a profile with a latency that this machine cannot emulate.
///
/// # Errors
///
/// The latency that is too short.
pub fn check_floor(profile: &DriveProfile) -> Result<(), DriveError> {
    if has_no_latency(profile) {
        return Ok(());
    }
    let checks = [
        ("read", profile.read.latency_us, READ_FLOOR_US),
        ("write", profile.write.latency_us, WRITE_FLOOR_US),
    ];
    for (what, latency_us, floor_us) in checks {
        if latency_us < floor_us {
            return Err(DriveError::BelowFloor {
                name: profile.name.clone(),
                what,
                latency_us,
                floor_us,
            });
        }
    }
    Ok(())
}

/// Returns true if a profile claims no latency of its own: then nothing is emulated, and nothing
/// late.
pub(crate) fn has_no_latency(profile: &DriveProfile) -> bool {
    profile.read.latency_us <= NO_LATENCY_US && profile.write.latency_us <= NO_LATENCY_US
}

#[cfg(test)]
mod tests {
    use super::check_floor;
    use crate::profiles;

    #[test]
    fn an_optane_is_refused_and_flash_is_not() {
        let mut profile = profiles::embedded("intel-p4610").unwrap();
        assert!(check_floor(&profile).is_ok());
        profile.read.latency_us = 8.0;
        let error = check_floor(&profile).unwrap_err().to_string();
        assert!(error.contains("--below-floor") && error.contains("read latency of 8 us"));
        assert!(check_floor(&profiles::embedded("null").unwrap()).is_ok());
    }
}
