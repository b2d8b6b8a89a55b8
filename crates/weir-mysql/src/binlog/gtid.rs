//! Which transaction begins, and when it was committed.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use mysql_common::binlog::BinlogCtx;
use mysql_common::binlog::consts::BinlogVersion;
use mysql_common::binlog::events::{FormatDescriptionEvent, GtidEvent};

use crate::binlog::bytes::Bytes;
use crate::binlog::{EventHeader, MalformedEvent, kind};

/// The bit of the first commit time that says that the second one follows.
const HAS_ORIGINAL: u64 = 1 << 55;
/// A `MariaDB` event with this flag is a statement or a group that commits by itself.
const STANDALONE: u8 = 0x01;
/// With this flag the number of its group of commits follows.
const GROUP_COMMIT: u8 = 0x02;
/// With this flag it is a two-phase transaction's first part, and the branch's name follows.
const PREPARED_XA: u8 = 0x40;
/// With this flag it is one's second part, likewise.
const COMPLETED_XA: u8 = 0x80;
/// Further flags of `binlog_alter_two_phase`: the statement is begun, or was not done. One that was done has another.
const BEGUN_OR_UNDONE_ALTER: u8 = 0x02 | 0x08;
const MICROSECONDS_PER_S: u64 = 1_000_000;

/// The name of a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Gtid {
    /// Of MySQL: the server's UUID, a tag, a number.
    Mysql {
        /// The server on which it was committed first.
        source: [u8; 16],
        /// Empty for most.
        tag: String,
        /// Counted on that server.
        number: u64,
    },
    /// Of `MariaDB`: domain, server id, number.
    Mariadb {
        /// The replication domain.
        domain: u32,
        /// The server's id.
        server: u32,
        /// Counted in the domain.
        number: u64,
    },
}

/// The start of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionStart {
    /// Name of the transaction, if it has one.
    pub gtid: Option<Gtid>,
    /// When it was committed, µs since 1970. Of `MariaDB` and old MySQL: when its last statement began, in whole
    /// seconds.
    pub committed_us: u64,
    /// The time is that of the commit, in µs.
    pub is_exact: bool,
    /// It is a statement of its own: no event says where it ends.
    pub is_standalone: bool,
    /// True if the statement is only begun or was not done (`binlog_alter_two_phase` of `MariaDB`): if it is done,
    /// another transaction has it again.
    pub is_undone: bool,
    /// The name of the branch whose rows follow, of `MariaDB`: they are prepared, not committed. MySQL writes a statement.
    pub branch: Option<String>,
}

impl TransactionStart {
    /// Reads the body of an event of the kinds GTID, `ANONYMOUS_GTID`, `GTID_TAGGED` or `MariaDB`'s.
    ///
    /// # Errors
    ///
    /// Bytes that are no such event.
    pub fn read(header: &EventHeader, body: &[u8]) -> Result<Self, MalformedEvent> {
        match header.kind {
            kind::MARIADB_GTID => Self::of_mariadb(header, body),
            kind::GTID_TAGGED => Self::tagged(header, body),
            _ => Self::untagged(header, body),
        }
    }

    fn of_mysql(header: &EventHeader, gtid: Option<Gtid>, committed_us: u64) -> Self {
        Self {
            gtid,
            committed_us: match committed_us {
                0 => in_seconds(header),
                time => time,
            },
            is_exact: committed_us != 0,
            is_standalone: false,
            is_undone: false,
            branch: None,
        }
    }

    fn untagged(header: &EventHeader, body: &[u8]) -> Result<Self, MalformedEvent> {
        let mut bytes = Bytes(body);
        bytes.u8()?;
        let mut source = [0; 16];
        source.copy_from_slice(bytes.take(16)?);
        let number = bytes.u64()?;
        // The kind of logical time, two of these, then the commit time of 7 bytes; 5.7 ends before it.
        let committed_us = match bytes.0.first() {
            Some(2) if bytes.0.len() >= 1 + 16 + 7 => {
                bytes.take(17)?;
                bytes.uint(7)? & !HAS_ORIGINAL
            }
            _ => 0,
        };
        let gtid = (header.kind == kind::GTID).then(|| Gtid::Mysql {
            source,
            tag: String::new(),
            number,
        });
        Ok(Self::of_mysql(header, gtid, committed_us))
    }

    fn tagged(header: &EventHeader, body: &[u8]) -> Result<Self, MalformedEvent> {
        let format = FormatDescriptionEvent::new(BinlogVersion::Version4);
        let context = BinlogCtx::new(body.len(), &format, header.kind);
        let event = mysql_common::io::ParseBuf(body).parse::<GtidEvent>(context);
        let event =
            event.map_err(|_| MalformedEvent("the tagged name of a transaction is none"))?;
        let gtid = Gtid::Mysql {
            source: event.sid(),
            tag: event.tag().map(ToString::to_string).unwrap_or_default(),
            number: event.gno(),
        };
        Ok(Self::of_mysql(
            header,
            Some(gtid),
            event.immediate_commit_timestamp(),
        ))
    }

    fn of_mariadb(header: &EventHeader, body: &[u8]) -> Result<Self, MalformedEvent> {
        let mut bytes = Bytes(body);
        let number = bytes.u64()?;
        let domain = bytes.u32()?;
        let flags = bytes.u8()?;
        if flags & GROUP_COMMIT != 0 {
            bytes.u64()?;
        }
        let branch = match flags & (PREPARED_XA | COMPLETED_XA) {
            0 => None,
            _ => Some(branch(&mut bytes)?),
        };
        // Zero bytes fill up an event that has none of these.
        let further = bytes.u8().unwrap_or(0);
        Ok(Self {
            gtid: Some(Gtid::Mariadb {
                domain,
                server: header.server_id,
                number,
            }),
            committed_us: in_seconds(header),
            is_exact: false,
            is_standalone: flags & STANDALONE != 0,
            is_undone: further & BEGUN_OR_UNDONE_ALTER != 0,
            branch: branch.filter(|_| flags & PREPARED_XA != 0),
        })
    }
}

/// The name of a branch, as the statements that end it write it.
fn branch(bytes: &mut Bytes<'_>) -> Result<String, MalformedEvent> {
    let format = bytes.u32()?;
    let (global, qualifier) = (bytes.u8()?, bytes.u8()?);
    let mut hexadecimal = |length: u8| -> Result<String, MalformedEvent> {
        let mut digits = String::new();
        for byte in bytes.take(usize::from(length))? {
            let _ = write!(digits, "{byte:02x}");
        }
        Ok(digits)
    };
    let (global, qualifier) = (hexadecimal(global)?, hexadecimal(qualifier)?);
    Ok(format!("X'{global}',X'{qualifier}',{format}"))
}

fn in_seconds(header: &EventHeader) -> u64 {
    u64::from(header.timestamp_s) * MICROSECONDS_PER_S
}

impl fmt::Display for Gtid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mysql {
                source,
                tag,
                number,
            } => {
                for (at, byte) in source.iter().enumerate() {
                    if [4, 6, 8, 10].contains(&at) {
                        out.write_str("-")?;
                    }
                    write!(out, "{byte:02x}")?;
                }
                if !tag.is_empty() {
                    write!(out, ":{tag}")?;
                }
                write!(out, ":{number}")
            }
            Self::Mariadb {
                domain,
                server,
                number,
            } => write!(out, "{domain}-{server}-{number}"),
        }
    }
}

impl FromStr for Gtid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let of_mysql = || {
            let (source, rest) = text.split_once(':')?;
            let hex: String = source.chars().filter(|c| *c != '-').collect();
            if hex.len() != 32 || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let digits = u128::from_str_radix(&hex, 16).ok()?;
            let (tag, number) = rest.rsplit_once(':').unwrap_or(("", rest));
            Some(Self::Mysql {
                source: digits.to_be_bytes(),
                tag: tag.to_ascii_lowercase(),
                number: number.parse().ok()?,
            })
        };
        let of_mariadb = || {
            let mut parts = text.split('-');
            let parsed = Self::Mariadb {
                domain: parts.next()?.parse().ok()?,
                server: parts.next()?.parse().ok()?,
                number: parts.next()?.parse().ok()?,
            };
            parts.next().is_none().then_some(parsed)
        };
        of_mysql().or_else(of_mariadb).ok_or_else(|| {
            format!(
                "`{text}` is no name of one transaction; write UUID:NUMBER for MySQL, DOMAIN-SERVER-NUMBER for MariaDB"
            )
        })
    }
}
