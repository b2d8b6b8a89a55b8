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
    match percent(text, '-') {
        Some(percent) if percent < 100.0 => Ok(1.0 - percent / 100.0),
        _ => Err("must be a loss in per cent, such as -3%".to_owned()),
    }
}

/// `+10%` as a ratio: 1.1.
pub(crate) fn growth(text: &str) -> Result<f64, String> {
    match percent(text, '+') {
        Some(percent) => Ok(1.0 + percent / 100.0),
        None => Err("must be a growth in per cent, such as +10%".to_owned()),
    }
}

/// `5%` as a share: 0.05.
pub(super) fn margin(text: &str) -> Result<f64, String> {
    match percent(text, '±') {
        Some(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("must be a margin in per cent, such as 5%".to_owned()),
    }
}

/// Per cent, which may have this sign and no other one.
fn percent(text: &str, sign: char) -> Option<f64> {
    let number = text.trim().trim_end_matches('%').trim();
    let number = number.strip_prefix(sign).unwrap_or(number);
    let is_plain = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let percent: f64 = number.parse().ok().filter(|_| is_plain)?;
    percent.is_finite().then_some(percent)
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
        for wrong in ["+3%", "--3%", "100%", "-x", "-inf", ""] {
            assert!(loss(wrong).is_err(), "{wrong}");
        }
        assert!((growth("+10%").unwrap() - 1.1).abs() < 1e-9);
        assert!(growth("-10%").unwrap_err().contains("+10%"));
        assert!((margin("5%").unwrap() - 0.05).abs() < 1e-9);
        assert!(margin("0").is_err() && margin("-5%").is_err());
        assert!(loss("100%").unwrap_err().contains("-3%"));
        assert!(
            factor_and_level("threads")
                .unwrap_err()
                .contains("threads=64")
        );
    }
}
