//! Types of columns, with values of each: NULL apart, the extremes and what servers treat in a way of their own.

use weir_testing::Random;

use crate::dialect::{Dialect, Since};

/// How a column is read so that equal cells are equal rows' bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Its text is exact: numbers without a binary exponent, dates and times in UTC, addresses.
    Exact,
    /// FLOAT and DOUBLE: their bits, as the binary protocol has them.
    Binary,
    /// BIT, ENUM and SET: their number.
    Number,
    /// A text or bytes: hexadecimal.
    Bytes,
    /// A document of MySQL: its text.
    Json,
}

/// A type of columns.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) sql: &'static str,
    pub(crate) class: Class,
    since: Since,
    /// Expressions; `%` is a random number below 100.
    values: &'static [&'static str],
}

const fn kind(sql: &'static str, class: Class, values: &'static [&'static str]) -> Kind {
    Kind {
        sql,
        class,
        since: Since::ALWAYS,
        values,
    }
}

const fn of_some(
    since: Since,
    sql: &'static str,
    class: Class,
    values: &'static [&'static str],
) -> Kind {
    Kind {
        sql,
        class,
        since,
        values,
    }
}

use Class::{Binary, Bytes, Exact, Json, Number};

const BLOBS: &[&str] = &[
    "''",
    "X'00'",
    "X'FF00FE27'",
    "REPEAT(X'00FF', 1 + %)",
    "REPEAT('b', 3 * %)",
    "REPEAT(X'00', 9000 + %)",
];
/// Quotes, a backslash, a zero byte and a line's end; a space at the end.
const ASCII: &[&str] = &[
    "''",
    "'a'",
    "'A'",
    "'a '",
    "_utf8mb4 X'69742773205C000A22'",
    "'row %'",
    "REPEAT('x%', 40)",
];
const LATIN: &[&str] = &[
    "''",
    "'\u{e9}'",
    "'E'",
    "'e '",
    "'\u{20ac}\u{df}\u{c4}'",
    "_utf8mb4 X'69742773205C000A22'",
    "'row %'",
];
const CYRILLIC: &[&str] = &[
    "''",
    "'\u{416}'",
    "'\u{44f}\u{416} %'",
    "'a'",
    "_utf8mb4 X'69742773205C000A22'",
];
/// The second byte of some is a backslash or a quote in GBK and SJIS.
const HAN: &[&str] = &[
    "''",
    "'\u{4e2d}\u{56fd}'",
    "'\u{8a98}\u{7e3e}%'",
    "'\u{8868}\u{5341}'",
    "'a'",
    "_utf8mb4 X'69742773205C000A22'",
];
const WIDE: &[&str] = &[
    "''",
    "'a\u{20ac}\u{1f980}'",
    "'a '",
    "'A'",
    "'\u{e9}'",
    "'e\u{301}'",
    "_utf8mb4 X'69742773205C000A22'",
    "REPEAT('\u{20ac}%', 6)",
];
const DATES: &[&str] = &[
    "'0000-00-00'",
    "'1000-01-01'",
    "'9999-12-31'",
    "'2026-02-30'",
    "'2024-02-29'",
    "'2026-00-00'",
    "'2026-01-01' + INTERVAL % DAY",
];
const DATETIMES: &[&str] = &[
    "'0000-00-00 00:00:00'",
    "'1000-01-01 00:00:00'",
    "'9999-12-31 23:59:59'",
    "'2026-10-25 02:30:00.5'",
    "'2026-03-29 02:30:00.000001'",
    "'2026-01-01 00:00:00.123456' + INTERVAL % SECOND",
    "NOW(6)",
];
/// Around the two changes of the clock of 2026 in Europe, and the ends.
const TIMESTAMPS: &[&str] = &[
    "'0000-00-00 00:00:00'",
    "FROM_UNIXTIME(1)",
    "FROM_UNIXTIME(2147483647)",
    "FROM_UNIXTIME(1792890000.5 + %)",
    "FROM_UNIXTIME(1792886400.25 + %)",
    "FROM_UNIXTIME(1774746000.999999)",
    "NOW(6)",
];
const TIMES: &[&str] = &[
    "'00:00:00'",
    "'-838:59:59'",
    "'838:59:59'",
    "'00:00:00.000001'",
    "'-00:00:00.5'",
    "'-01:02:03.456789'",
    "'12:00:%'",
];
const DOUBLES: &[&str] = &[
    "0",
    "-0e0",
    "0.1",
    "1.7976931348623157e308",
    "2.2250738585072014e-308",
    "5e-324",
    "-1e%",
    "%.7",
];
const FLOATS: &[&str] = &[
    "0",
    "-0e0",
    "0.1",
    "3.4028234e38",
    "1.17549435e-38",
    "1.4e-45",
    "16777217",
    "%.3",
];
const DECIMALS: &[&str] = &[
    "0",
    "-0.01",
    "99999999.99",
    "-99999999.99",
    "%.5",
    "0.0000000000000000000000000001",
];
const SHAPES: &[&str] = &[
    "ST_GeomFromText('POINT(% -7.5)')",
    "ST_GeomFromText('POINT(0 0)')",
    "ST_GeomFromText('POINT(1e300 -1e-300)')",
];
const SET_64: &str = "SET('a0','a1','a2','a3','a4','a5','a6','a7','a8','a9','b0','b1','b2','b3','b4','b5','b6','b7','b8','b9',\
    'c0','c1','c2','c3','c4','c5','c6','c7','c8','c9','d0','d1','d2','d3','d4','d5','d6','d7','d8','d9',\
    'e0','e1','e2','e3','e4','e5','e6','e7','e8','e9','f0','f1','f2','f3','f4','f5','f6','f7','f8','f9','g0','g1','g2','g3')";

pub(crate) const KINDS: &[Kind] = &[
    kind("TINYINT", Exact, &["-128", "127", "0", "%"]),
    kind("SMALLINT UNSIGNED", Exact, &["0", "65535", "%"]),
    kind("MEDIUMINT", Exact, &["-8388608", "8388607", "-%"]),
    kind(
        "MEDIUMINT(8) UNSIGNED ZEROFILL",
        Exact,
        &["0", "16777215", "%"],
    ),
    kind("INT UNSIGNED", Exact, &["0", "4294967295", "%"]),
    kind(
        "BIGINT",
        Exact,
        &["-9223372036854775808", "9223372036854775807", "-%"],
    ),
    kind(
        "BIGINT UNSIGNED",
        Exact,
        &["0", "18446744073709551615", "9007199254740993", "%"],
    ),
    kind("DECIMAL(10,2)", Exact, DECIMALS),
    kind(
        "DECIMAL(65,30)",
        Exact,
        &[
            "99999999999999999999999999999999999.999999999999999999999999999999",
            "-99999999999999999999999999999999999.999999999999999999999999999999",
            "0.000000000000000000000000000001",
            "%.5",
            "0",
        ],
    ),
    kind(
        "DECIMAL(9,9)",
        Exact,
        &["0.999999999", "-0.000000001", "0.%"],
    ),
    kind("DECIMAL(5,0) UNSIGNED", Exact, &["0", "99999", "%"]),
    kind("FLOAT", Binary, FLOATS),
    kind("DOUBLE", Binary, DOUBLES),
    kind("FLOAT(7,3)", Binary, &["0", "1234.567", "-9999.999", "%.1"]),
    kind("DOUBLE(20,4)", Binary, &["0", "-123456789.1234", "%.12345"]),
    kind("BIT(1)", Number, &["b'0'", "b'1'"]),
    kind("BIT(13)", Number, &["0", "8191", "%"]),
    kind(
        "BIT(64)",
        Number,
        &["0", "18446744073709551615", "9007199254740993", "%"],
    ),
    kind("YEAR", Exact, &["0", "1901", "2155", "2026"]),
    kind("DATE", Exact, DATES),
    kind("DATETIME", Exact, DATETIMES),
    kind("DATETIME(1)", Exact, DATETIMES),
    kind("DATETIME(4)", Exact, DATETIMES),
    kind("DATETIME(6)", Exact, DATETIMES),
    kind("TIMESTAMP", Exact, TIMESTAMPS),
    kind("TIMESTAMP(3)", Exact, TIMESTAMPS),
    kind("TIMESTAMP(6)", Exact, TIMESTAMPS),
    kind("TIME", Exact, TIMES),
    kind("TIME(2)", Exact, TIMES),
    kind("TIME(5)", Exact, TIMES),
    kind("TIME(6)", Exact, TIMES),
    kind("CHAR(10) CHARACTER SET latin1", Bytes, LATIN),
    kind("CHAR(200) CHARACTER SET utf8mb4", Bytes, WIDE),
    kind("CHAR(20) CHARACTER SET gbk", Bytes, HAN),
    kind("VARCHAR(20) CHARACTER SET utf8mb4", Bytes, WIDE),
    kind(
        "VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
        Bytes,
        WIDE,
    ),
    kind("VARCHAR(30) CHARACTER SET latin1", Bytes, LATIN),
    kind("VARCHAR(30) CHARACTER SET cp1251", Bytes, CYRILLIC),
    kind("VARCHAR(30) CHARACTER SET gbk", Bytes, HAN),
    kind("VARCHAR(30) CHARACTER SET sjis", Bytes, HAN),
    kind("VARCHAR(30) CHARACTER SET utf16", Bytes, WIDE),
    kind("VARCHAR(30) CHARACTER SET ucs2", Bytes, HAN),
    kind("VARCHAR(60) CHARACTER SET ascii", Bytes, ASCII),
    kind("TINYTEXT CHARACTER SET latin1", Bytes, LATIN),
    kind("TEXT CHARACTER SET utf8mb4", Bytes, WIDE),
    kind("TEXT CHARACTER SET gbk", Bytes, HAN),
    kind("MEDIUMTEXT CHARACTER SET cp1251", Bytes, CYRILLIC),
    kind("LONGTEXT CHARACTER SET utf8mb4", Bytes, WIDE),
    kind(
        "BINARY(8)",
        Bytes,
        &[
            "X'0000000000000000'",
            "X'6162000000'",
            "'a'",
            "X'FF27205C00000000'",
            "''",
        ],
    ),
    kind("VARBINARY(300)", Bytes, BLOBS),
    kind("TINYBLOB", Bytes, &["''", "X'00FF'", "REPEAT('z', %)"]),
    kind("BLOB", Bytes, BLOBS),
    kind("LONGBLOB", Bytes, BLOBS),
    kind(
        "ENUM('a','b','it''s','x,y')",
        Number,
        &["'a'", "'b'", "'it''s'", "'x,y'", "''", "'none'"],
    ),
    kind(
        "ENUM('','\u{e9}','\u{416}') CHARACTER SET utf8mb4",
        Number,
        &["''", "'\u{e9}'", "'\u{416}'", "0", "2"],
    ),
    kind(
        "SET('p','q','it''s')",
        Number,
        &["'p'", "'q,p'", "''", "'p,q,it''s'", "5"],
    ),
    kind(
        SET_64,
        Number,
        &[
            "'a0'",
            "'g3'",
            "'a0,g3'",
            "18446744073709551615",
            "9007199254740993",
        ],
    ),
    kind("GEOMETRY", Bytes, SHAPES),
    kind("POINT", Bytes, SHAPES),
    of_some(
        Since::mysql(8, 0, 3),
        "POINT SRID 4326",
        Bytes,
        &["ST_GeomFromText('POINT(% -7.5)', 4326)"],
    ),
    of_some(
        Since::mysql(5, 7, 8),
        "JSON",
        Json,
        &[
            "'{\"a\": 1, \"b\": [1, 2, 3], \"c\": {\"d\": \"it''s\"}, \"long\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}'",
            "'[]'",
            "'null'",
            "'\"\u{1f980}\"'",
            "'18446744073709551615'",
            "'{\"a\": 1.5, \"b\": true, \"z\": \"%\"}'",
            "'-0.0'",
            "'1e300'",
            "JSON_OBJECT('a', REPEAT('y', 70 * %), 'b', JSON_ARRAY(%, NULL))",
        ],
    ),
    of_some(
        Since::mysql(9, 0, 0),
        "VECTOR(3)",
        Bytes,
        &["TO_VECTOR('[%,1.5,-9]')", "TO_VECTOR('[0,0,0]')"],
    ),
    of_some(
        Since::mariadb(10, 2, 7),
        "JSON",
        Bytes,
        &[
            "'{\"a\": 1,  \"b\": [1, \"\u{1f980}\"]}'",
            "'[]'",
            "'{\"a\": \"%\"}'",
        ],
    ),
    of_some(
        Since::mariadb(10, 7, 0),
        "UUID",
        Exact,
        &[
            "'00112233-4455-1677-8899-aabbccddee%0'",
            "'00112233-4455-4677-8899-aabbccddeeff'",
            "'018e5f4c-7b3a-7c00-8000-0000000000%0'",
            "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
            "'00000000-0000-0000-0000-000000000000'",
        ],
    ),
    of_some(
        Since::mariadb(10, 5, 0),
        "INET6",
        Exact,
        &[
            "'2001:db8::%'",
            "'::'",
            "'::ffff:1.2.3.4'",
            "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'",
        ],
    ),
    of_some(
        Since::mariadb(10, 10, 0),
        "INET4",
        Exact,
        &["'0.0.0.0'", "'255.255.255.255'", "'10.0.0.%'"],
    ),
    of_some(
        Since::mariadb(10, 3, 2),
        "VARCHAR(500) COMPRESSED",
        Bytes,
        &["''", "REPEAT('aaaa', %)", "'\u{e9}'", "'%'"],
    ),
    of_some(
        Since::mariadb(10, 3, 2),
        "MEDIUMBLOB COMPRESSED",
        Bytes,
        BLOBS,
    ),
    of_some(
        Since::mariadb(11, 7, 1),
        "VECTOR(3)",
        Bytes,
        &["VEC_FromText('[%,1.5,-9]')", "VEC_FromText('[0,0,0]')"],
    ),
];

impl Kind {
    /// Numbers of the kinds that a server has.
    pub(crate) fn all(dialect: Dialect) -> Vec<usize> {
        let has = |at: &usize| dialect.has(KINDS[*at].since);
        (0..KINDS.len()).filter(has).collect()
    }

    pub(crate) fn value(&self, random: &mut Random) -> String {
        let value = random.one_of(self.values);
        value.replace('%', &random.below(100).to_string())
    }

    pub(crate) fn is_long(&self) -> bool {
        ["TEXT", "BLOB", "JSON"]
            .iter()
            .any(|word| self.sql.contains(word))
    }

    pub(crate) fn is_shape(&self) -> bool {
        self.sql.starts_with("GEOMETRY") || self.sql.starts_with("POINT")
    }

    /// An index may have it, at a length if it is long.
    pub(crate) fn is_for_key(&self) -> bool {
        !self.is_shape()
            && self.class != Class::Json
            && !self.sql.starts_with("VECTOR")
            && !self.sql.ends_with("COMPRESSED")
            && !self.sql.starts_with("CHAR(200)")
            && !self.sql.starts_with("VARCHAR(300)")
            && !self.sql.starts_with("VARBINARY")
    }
}
