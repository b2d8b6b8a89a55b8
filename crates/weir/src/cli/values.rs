//! Values of options that clap does not read by itself, with what to write in their errors.

use std::net::SocketAddr;

/// `127.0.0.1:7878`.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        "must be an address and a port up to 65535, such as 127.0.0.1:7878, or 0.0.0.0:7878 for all hosts".to_owned()
    })
}

/// `threads=64`, taken apart.
pub(super) fn factor_and_level(text: &str) -> Result<(String, String), String> {
    let (factor, level) = text
        .split_once('=')
        .ok_or("must be FACTOR=LEVEL, such as threads=64")?;
    Ok((factor.to_owned(), level.to_owned()))
}

/// `-3%` as a ratio: 0.97.
pub(super) fn loss(text: &str) -> Result<f64, String> {
    let number = text
        .trim()
        .trim_end_matches('%')
        .trim()
        .trim_start_matches('-');
    match number.parse::<f64>() {
        Ok(percent) if (0.0..100.0).contains(&percent) => Ok(1.0 - percent / 100.0),
        _ => Err("must be a loss in per cent, such as -3%".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_is_answered_with_a_right_one() {
        assert_eq!(listen_address("[::1]:80").unwrap().port(), 80);
        for wrong in ["3307", "0.0.0.0", "127.0.0.1:99999", "localhost:80"] {
            let error = listen_address(wrong).unwrap_err();
            assert!(error.contains("127.0.0.1:7878"), "{error}");
        }
        for right in ["-3%", "3", " 3 % "] {
            assert!((loss(right).unwrap() - 0.97).abs() < 1e-9, "{right}");
        }
        assert!(loss("100%").unwrap_err().contains("-3%"));
        assert!(
            factor_and_level("threads")
                .unwrap_err()
                .contains("threads=64")
        );
    }
}
