//! The file as it is written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use toml::Spanned;
use weir_model::DistributionName;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Title for its readers only.
    #[serde(default, rename = "title")]
    _title: String,
    /// Facts that `weir workload fit` found beside it; for readers.
    #[serde(default, rename = "fit")]
    _fit: Option<IgnoredAny>,
    /// A text whose lines `line` takes.
    pub(super) text_file: Option<PathBuf>,
    /// Values that a transaction draws once.
    #[serde(default)]
    pub(super) values: BTreeMap<String, Spanned<Source>>,
    #[serde(default)]
    pub(super) tables: BTreeMap<String, Spanned<TableEntry>>,
    pub(super) transactions: Vec<Spanned<TransactionEntry>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableEntry {
    pub(super) rows: u64,
    /// The statement that makes it.
    pub(super) create: String,
    /// Source of each column's values.
    pub(super) columns: BTreeMap<String, Spanned<Source>>,
    /// Clauses after `ALTER TABLE t ADD`, to be built after the rows.
    #[serde(default)]
    pub(super) indexes: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransactionEntry {
    pub(super) name: String,
    #[serde(default = "one")]
    pub(super) weight: u32,
    pub(super) statements: Vec<Spanned<StatementEntry>>,
}

fn one() -> u32 {
    1
}

/// A statement: its text, or its text and the values of its question marks.
#[derive(Debug, Clone)]
pub(super) struct StatementEntry {
    pub(super) sql: String,
    pub(super) values: Vec<Spanned<Source>>,
}

/// Source of a value: by name, or described on the spot.
#[derive(Debug, Clone)]
pub(super) enum Source {
    Name(String),
    Here(Kind),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The number of a row of a table.
    Key(Key),
    /// An integer from the first to the second.
    Integer([i64; 2]),
    /// Ascending from here on.
    Sequence(u64),
    /// From the first to the second, none twice in a run.
    Unique([i64; 2]),
    /// `#` is a digit, `@` a letter.
    Pattern(String),
    /// Texts with their weights.
    Choice(BTreeMap<String, u32>),
    /// So many small letters, from the first to the second.
    Letters([u32; 2]),
    /// Letters and digits that another value decides.
    Code(Code),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Code {
    pub(super) length: usize,
    /// The number that decides.
    pub(super) of: Box<Spanned<Source>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    /// The table whose rows are asked for, or
    pub(super) table: Option<String>,
    /// the integers from the first to the second.
    pub(super) range: Option<[i64; 2]>,
    /// The run's, if the file names none.
    pub(super) distribution: Option<DistributionName>,
    /// Weights of equal parts of the table, instead of a distribution.
    pub(super) weights: Option<Vec<u32>>,
    /// Parameters of the distribution.
    pub(super) iterations: Option<u32>,
    pub(super) hot_rows_percent: Option<u32>,
    pub(super) hot_keys_percent: Option<u32>,
    pub(super) h: Option<f64>,
    pub(super) exponent: Option<f64>,
    /// Order of the keys that are asked for most.
    #[serde(default)]
    pub(super) order: Order,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    #[default]
    Ascending,
    Descending,
    Scattered,
}

impl<'de> Deserialize<'de> for StatementEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Whole {
            sql: String,
            #[serde(default)]
            values: Vec<Spanned<Source>>,
        }
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = StatementEntry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a statement, or { sql = \"...\", values = [...] }")
            }

            fn visit_str<E>(self, sql: &str) -> Result<StatementEntry, E> {
                Ok(StatementEntry {
                    sql: sql.to_owned(),
                    values: Vec::new(),
                })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StatementEntry, A::Error> {
                let Whole { sql, values } = Whole::deserialize(MapAccessDeserializer::new(map))?;
                Ok(StatementEntry { sql, values })
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Source;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a value, or a source such as { integer = [1, 9] }")
            }

            fn visit_str<E>(self, name: &str) -> Result<Source, E> {
                Ok(Source::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Source, A::Error> {
                Kind::deserialize(MapAccessDeserializer::new(map)).map(Source::Here)
            }
        }
        deserializer.deserialize_any(Either)
    }
}
