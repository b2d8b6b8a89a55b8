//! Changed rows of `MariaDB`'s slow log: some versions add the rows that triggers wrote.

use weir_model::ServerVersion;

/// The oldest version of each series whose log was seen to count the statement's own rows only.
const OWN_ROWS: [ServerVersion; 3] = [
    ServerVersion::new(10, 11, 19),
    ServerVersion::new(11, 4, 5),
    ServerVersion::new(11, 8, 9),
];

/// Returns true if the server that opened a log with this line counts the changed rows as it tells them to the client.
pub(super) fn counts_own_rows(opening: &[u8]) -> bool {
    let opening = String::from_utf8_lossy(opening);
    let version = opening.split_once(", Version: ").map(|(_, after)| after);
    let Some(version) = version.and_then(|text| text.parse::<ServerVersion>().ok()) else {
        return false;
    };
    let series = |version: &ServerVersion| (version.major, version.minor);
    let same = OWN_ROWS.iter().find(|own| series(own) == series(&version));
    let newest = &OWN_ROWS[OWN_ROWS.len() - 1];
    same.map_or(series(&version) > series(newest), |own| version >= *own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_were_not_seen_to_are_not_taken_to_count_own_rows() {
        for (version, expected) in [
            ("10.2.11-MariaDB-log", false),
            ("10.11.5-MariaDB-log", false),
            ("10.11.19-MariaDB-deb12-log", true),
            ("11.4.4-MariaDB", false),
            ("11.4.5-MariaDB", true),
            ("11.5.2-MariaDB", false),
            ("11.8.9-MariaDB", true),
            ("12.0.2-MariaDB", true),
            ("unknown", false),
        ] {
            let opening = format!("/usr/sbin/mariadbd, Version: {version} (x). started with:");
            assert_eq!(counts_own_rows(opening.as_bytes()), expected, "{version}");
        }
    }
}
