//! A capture in the place of a workload's transactions: which one, and how it is sent.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Duration;

/// A captured load that is sent again. The tables are those of the run's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplaySpec {
    /// Path from which the capture was read.
    pub path: PathBuf,
    /// SHA-256 of its bytes, hexadecimal: what a capture is, wherever it lies.
    pub digest: String,
    /// Time at which statements are due.
    pub pace: ReplayPace,
    /// Times are divided by it, above 0.
    pub speed: f64,
    /// Order that holds between sessions.
    pub order: ReplayOrder,
    /// Filter of the sent statements.
    pub filter: ReplayFilter,
    /// From this time of the capture on; a transaction is sent whole if it begins then.
    pub from: Duration,
    /// Share of the sessions, each whole, above 0 to 1.
    pub sessions: f64,
    /// Only sessions of this account; empty: all.
    pub user: String,
    /// The schema of the capture whose statements are sent; empty: that of most of them.
    pub schema: String,
}

impl Default for ReplaySpec {
    /// All of a capture, as it was.
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            digest: String::new(),
            pace: ReplayPace::default(),
            speed: 1.0,
            order: ReplayOrder::default(),
            filter: ReplayFilter::default(),
            from: Duration::default(),
            sessions: 1.0,
            user: String::new(),
            schema: String::new(),
        }
    }
}

/// A choice that is written as a word.
macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// All words.
            pub const NAMES: &[&str] = &[$($word),+];

            /// Returns the word in a study file.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("must be {}", Self::NAMES.join(" or "))),
                }
            }
        }
    };
}

words! {
    /// Time at which statements of a capture are due.
    ReplayPace {
        /// At the times of the capture, and not before the session's last answer.
        #[default]
        Captured = "captured",
        /// As long after the session's last answer as in the capture.
        Think = "think",
        /// As fast as each session is answered.
        Fast = "fast",
    }
}

words! {
    /// Order that holds between the sessions of a replay.
    ReplayOrder {
        /// Nothing but the clock.
        #[default]
        Session = "session",
        /// A transaction that writes ends after those that ended before it in the capture.
        Commit = "commit",
    }
}

words! {
    /// Filter of the statements of a capture that are sent, transactions always whole.
    ReplayFilter {
        /// All.
        #[default]
        All = "all",
        /// Transactions that only read.
        Reads = "reads",
        /// Transactions that write.
        Writes = "writes",
    }
}
