//! Nothing that a capture's values say is in a fitted file.

use tempfile::TempDir;
use weir_capture::Literals;
use weir_replay::fit::fit;

use crate::written::Log;

const PLANTED: usize = 1_000;

/// A word that stands nowhere else.
fn secret(number: usize) -> String {
    let mixed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("planted{mixed:016x}")
}

/// A number that stands nowhere else.
fn number(number: usize) -> u64 {
    100_000_007 + (number as u64).wrapping_mul(7_919_777) % 800_000_000
}

#[test]
fn no_literal_of_the_capture_is_in_the_file() {
    let directory = TempDir::new().unwrap();
    let mut log = Log::new();
    for at in 0..PLANTED {
        let (word, number) = (secret(at), number(at));
        log.query(8, "BEGIN");
        log.query(8, &format!("INSERT INTO t (a, b, c, d) VALUES ({number}, '{word}', '{word}@x.example', {at}.25)"));
        log.query(
            8,
            &format!(
                "SELECT /* {word} */ a FROM t WHERE b LIKE '%{word}%' AND a > {number} -- {word}"
            ),
        );
        log.query(8, &format!("UPDATE t SET b = 'it''s {word}', e = '2024-03-05 10:11:12' WHERE a IN ({number}, {number}1)"));
        log.query(8, "COMMIT");
        log.query(
            9,
            &format!(
                "SELECT a FROM t WHERE c = \"{word}\" AND f = 'constantplanted' AND g = 314159265"
            ),
        );
        log.query(9, &format!("SET @x = '{word}'"));
        log.query(9, &format!("ALTER USER joe IDENTIFIED BY '{word}'"));
    }
    let capture = log.capture(&directory, Literals::Keep);
    let fitted = fit(&capture, None).unwrap();
    let all = format!("{}{}", fitted.text, serde_json::to_string(&fitted).unwrap());
    for at in 0..PLANTED {
        assert!(!all.contains(&secret(at)), "{}", secret(at));
        let number = number(at).to_string();
        assert!(!all.contains(&number), "{number}\n{}", fitted.text);
    }
    for planted in ["constantplanted", "314159265", "2024-03-05", "10:11:12"] {
        assert!(!all.contains(planted), "{planted}");
    }
    assert!(
        fitted
            .left_out
            .iter()
            .any(|(what, _)| what.starts_with("set @x")),
        "{:?}",
        fitted.left_out
    );
}
