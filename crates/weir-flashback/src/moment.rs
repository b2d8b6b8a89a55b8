//! The moment that is asked for: a time, or a place in the log.
//!
//! A time without an offset is the server's, as every other time that one writes in SQL there. The server itself
//! converts it; a time that it would shift silently (the hour that a change of clocks leaves out or has twice) is
//! refused.

use jiff::Timestamp;
use weir_mysql::binlog::{Gtid, Place, TransactionStart};
use weir_mysql::{Connection, text_literal};

use crate::FlashbackError;

const MICROSECONDS_PER_S: u64 = 1_000_000;

/// A moment as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MomentRequest {
    /// The beginning of the log, as far as the server has it.
    Start,
    /// A time as the user writes it.
    Time(String),
    /// An expression of SQL, such as `NOW() - INTERVAL 5 MINUTE`.
    Expression(String),
    /// Right before this transaction.
    Before(Gtid),
    /// Right after this transaction.
    After(Gtid),
    /// Right before the transaction at or after this place.
    At {
        /// The log's file.
        file: String,
        /// The place in it.
        position: u64,
    },
}

impl MomentRequest {
    /// Reads `FILE:POSITION`, or a time.
    pub fn read(text: &str) -> Self {
        let place = text.rsplit_once(':').and_then(|(file, position)| {
            let is_file = file.contains('.') && !file.contains([':', ' ']);
            Some((is_file.then_some(file)?, position.parse().ok()?))
        });
        match place {
            Some((file, position)) => Self::At {
                file: file.to_owned(),
                position,
            },
            None => Self::Time(text.to_owned()),
        }
    }
}

/// A moment as the server understands it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// The beginning of the log, as far as the server has it.
    Start,
    /// All that was committed up to here, µs since 1970.
    Time(u64),
    /// Right before this transaction.
    Before(Gtid),
    /// Right after this transaction.
    After(Gtid),
    /// Right before what is at or after this place.
    At(Place),
}

impl Moment {
    /// Asks the server.
    ///
    /// # Errors
    ///
    /// A time that is none, that lies in the future, or that is not one moment of the server's clock.
    pub fn resolve(
        asked: &MomentRequest,
        connection: &mut Connection,
    ) -> Result<Self, FlashbackError> {
        let us = match asked {
            MomentRequest::Start => return Ok(Self::Start),
            MomentRequest::Before(gtid) => return Ok(Self::Before(gtid.clone())),
            MomentRequest::After(gtid) => return Ok(Self::After(gtid.clone())),
            MomentRequest::At { file, position } => {
                return Ok(Self::At(Place {
                    file: file.as_str().into(),
                    position: *position,
                }));
            }
            MomentRequest::Time(text) => time(text, connection)?,
            MomentRequest::Expression(sql) => {
                let us = unix_time(connection, sql)?;
                us.ok_or_else(|| no_time(sql))?
            }
        };
        let now = unix_time(connection, "NOW(6)")?.unwrap_or(u64::MAX);
        if us > now {
            return Err(FlashbackError::refused(
                format!("{} lies in the future of the server", show(us)),
                "its clock may differ from yours: compare with SELECT NOW()",
            ));
        }
        Ok(Self::Time(us))
    }
}

fn time(text: &str, connection: &mut Connection) -> Result<u64, FlashbackError> {
    // With an offset or `Z` the time is the same everywhere.
    if let Ok(timestamp) = text.trim().replacen(' ', "T", 1).parse::<Timestamp>() {
        return u64::try_from(timestamp.as_microsecond()).map_err(|_| no_time(text));
    }
    let literal = text_literal(text.trim());
    let Some(us) = unix_time(connection, &literal)? else {
        return Err(no_time(text));
    };
    // The server moves a time that its clock left out to the end of the gap without a word.
    if !is_shown_as(connection, us, &literal)? {
        return Err(FlashbackError::refused(
            format!("the server's clock never showed {text} (time zone, change of clocks)"),
            "add the offset from UTC, as in 2026-11-24T14:02:00+01:00",
        ));
    }
    for other_s in [-7200_i64, -3600, -1800, 1800, 3600, 7200] {
        let other = us.saturating_add_signed(other_s * 1_000_000);
        if is_shown_as(connection, other, &literal)? {
            return Err(FlashbackError::refused(
                format!("the server's clock showed {text} twice (change of clocks)"),
                "add the offset from UTC, as in 2026-11-24T14:02:00+01:00",
            ));
        }
    }
    Ok(us)
}

/// Returns true if the server's clock shows `literal` at that time.
fn is_shown_as(
    connection: &mut Connection,
    us: u64,
    literal: &str,
) -> Result<bool, FlashbackError> {
    let query = format!(
        "SELECT CAST(FROM_UNIXTIME({}.{:06}) AS DATETIME(6)) = CAST({literal} AS DATETIME(6))",
        us / MICROSECONDS_PER_S,
        us % MICROSECONDS_PER_S
    );
    let shown: Option<Option<u8>> = connection.first(query)?;
    Ok(shown.flatten() == Some(1))
}

/// Returns a time as the server understands it, in µs since 1970; none if it is no time.
fn unix_time(connection: &mut Connection, sql: &str) -> Result<Option<u64>, FlashbackError> {
    let query =
        format!("SELECT CAST(UNIX_TIMESTAMP(CAST({sql} AS DATETIME(6))) * 1000000 AS SIGNED)");
    let found: Option<Option<i64>> = connection.first(query)?;
    let us = found.flatten().filter(|us| *us > 0);
    Ok(us.and_then(|us| u64::try_from(us).ok()))
}

fn no_time(text: &str) -> FlashbackError {
    FlashbackError::refused(
        format!("`{text}` is no time that the server knows"),
        "write YYYY-MM-DD HH:MM:SS, with an offset such as +01:00 or Z if it is not the server's time",
    )
}

/// A time in words, UTC.
pub(crate) fn show(us: u64) -> String {
    let timestamp = i64::try_from(us).map(Timestamp::from_microsecond);
    match timestamp {
        Ok(Ok(timestamp)) => timestamp.to_string(),
        _ => format!("{us} us"),
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Start => out.write_str("the beginning of the log"),
            Self::Time(us) => out.write_str(&show(*us)),
            Self::Before(gtid) => write!(out, "right before {gtid}"),
            Self::After(gtid) => write!(out, "right after {gtid}"),
            Self::At(place) => write!(out, "{place}"),
        }
    }
}

/// Follows the log's transactions to the first one after the moment.
#[derive(Debug)]
pub(crate) struct Cut {
    moment: Moment,
    /// Names of the log's files in their order.
    files: Vec<String>,
    is_past: bool,
    last_was_it: bool,
}

impl Cut {
    pub(crate) fn new(moment: Moment, files: Vec<String>) -> Self {
        Self {
            moment,
            files,
            is_past: false,
            last_was_it: false,
        }
    }

    /// Returns true if the moment was seen: a transaction that is named must be in the log.
    pub(crate) fn is_found(&self) -> bool {
        self.is_past
            || self.last_was_it
            || matches!(self.moment, Moment::Time(_) | Moment::At(_) | Moment::Start)
    }

    /// A transaction begins at `place`: whether it belongs to what came after the moment.
    pub(crate) fn begins(&mut self, start: &TransactionStart, place: &Place) -> bool {
        if self.is_past {
            return true;
        }
        self.is_past = match &self.moment {
            Moment::Start => true,
            Moment::Time(_) => !self.is_before(start),
            Moment::Before(gtid) => start.gtid.as_ref() == Some(gtid),
            Moment::After(gtid) => {
                let is_next = self.last_was_it;
                self.last_was_it |= start.gtid.as_ref() == Some(gtid);
                is_next
            }
            Moment::At(at) => self.reaches(place, at),
        };
        self.is_past
    }

    /// Returns true if its own time is not after the moment's: the log is not in the order of times, but nearly.
    pub(crate) fn is_before(&self, start: &TransactionStart) -> bool {
        let Moment::Time(us) = self.moment else {
            return false;
        };
        if start.is_exact {
            start.committed_us <= us
        } else {
            start.committed_us / MICROSECONDS_PER_S <= us / MICROSECONDS_PER_S
        }
    }

    /// Returns true if its time lies in the same second as the moment's.
    pub(crate) fn is_within_second(&self, start: &TransactionStart) -> bool {
        let Moment::Time(us) = self.moment else {
            return false;
        };
        start.committed_us / MICROSECONDS_PER_S == us / MICROSECONDS_PER_S
    }

    fn reaches(&self, place: &Place, at: &Place) -> bool {
        let order = |file: &str| self.files.iter().position(|known| known == file);
        let (here, there) = (order(&place.file), order(&at.file));
        here > there || (here == there && place.position >= at.position)
    }
}
