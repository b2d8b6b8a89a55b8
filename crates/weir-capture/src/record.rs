//! Events of a capture, in the order of time, and their bytes.

use std::sync::Arc;

use mysql_common::Value;

use crate::bytes::{Cursor, put_bytes, put_number, put_signed};
use crate::sql::Template;
use crate::values;

/// Kind of a client's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// A statement as text.
    Query = 1,
    /// To prepare a statement.
    Prepare = 2,
    /// To execute a prepared one.
    Execute = 3,
    /// To forget a prepared one; it has no answer.
    Close = 4,
    /// To use another schema, whose name is the text.
    UseSchema = 5,
    /// To make the session new again (`COM_RESET_CONNECTION`; in captures of version 1 also `COM_CHANGE_USER`).
    Reset = 6,
    /// Something that no replay repeats: a ping, a status, a cursor's rows.
    Other = 7,
    /// To go on with another account, schema or character set (`COM_CHANGE_USER`).
    ChangeUser = 8,
}

/// Login of a session: at its beginning, or when it changes its account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Login {
    /// The account's name.
    pub user: String,
    /// The schema that it begins in; empty for none.
    pub schema: String,
    /// The server's number of the collation that the client asks for; `None`: it is not known.
    pub collation: Option<u16>,
}

impl Login {
    /// Login of which the character set is not known.
    pub(crate) fn new(user: &str, schema: &str) -> Self {
        Self {
            user: user.to_owned(),
            schema: schema.to_owned(),
            collation: None,
        }
    }
}

impl Command {
    fn from_byte(byte: u8) -> Option<Self> {
        use Command::{ChangeUser, Close, Execute, Other, Prepare, Query, Reset, UseSchema};
        let all = [
            Query, Prepare, Execute, Close, UseSchema, Reset, Other, ChangeUser,
        ];
        all.into_iter().find(|command| *command as u8 == byte)
    }
}

/// Something of it is missing: it must never be sent.
const UNUSABLE: u64 = 1;
/// It was cut where it was written down.
const TRUNCATED: u64 = 2;

/// A command that began.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandStart {
    /// Kind of the request.
    pub command: Command,
    /// Text, with marks for literals; that of a prepared statement stands with its preparation.
    pub template: Option<Arc<Template>>,
    /// The text's literals.
    pub literals: Vec<Vec<u8>>,
    /// The server's number of the prepared statement that is executed or closed; 0 for others.
    pub handle: u32,
    /// Values of the parameters.
    pub values: Vec<Value>,
    /// Something of it is missing, so it must never be sent: it is secret, cut, or its literals were dropped.
    pub is_unusable: bool,
    /// It was cut where it was written down.
    pub is_truncated: bool,
    /// The login of a change of user; no other command has one.
    pub login: Option<Login>,
}

impl CommandStart {
    /// Without a text.
    pub fn new(command: Command) -> Self {
        Self {
            command,
            template: None,
            literals: Vec::new(),
            handle: 0,
            values: Vec::new(),
            is_unusable: false,
            is_truncated: false,
            login: None,
        }
    }

    /// The whole text.
    pub fn text(&self) -> Vec<u8> {
        let template = self.template.as_ref();
        template.map_or_else(Vec::new, |template| template.text_with(&self.literals))
    }
}

/// End of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandEnd {
    /// Rows that were returned; `None`: none were to be, or it is not known.
    pub rows: Option<u64>,
    /// Rows that were changed.
    pub affected: Option<u64>,
    /// The server's error, 0 for none; `None`: it is not known.
    pub error: Option<u16>,
    /// The number of the statement that was prepared.
    pub handle: Option<u32>,
    /// True if a transaction is open after it, by the server's word.
    pub in_transaction: Option<bool>,
    /// The number that an `AUTO_INCREMENT` column gave its (first) row; `None`: it gave none, or it is not known.
    pub insert_id: Option<u64>,
}

/// Kind of an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// A session is there: a login was let in.
    Opened(Login),
    /// A session has gone.
    Closed,
    /// A command began.
    Started(CommandStart),
    /// The session's command ended.
    Ended(CommandEnd),
}

/// One happening of a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When, microseconds since the capture began.
    pub at_us: u64,
    /// Whose; numbers of sessions are never used again.
    pub session: u32,
    /// What.
    pub happening: Happening,
}

const OPENED: u8 = 1;
const CLOSED: u8 = 2;
const STARTED: u8 = 3;
const ENDED: u8 = 4;
/// The text of the statement of the next free number.
const STATEMENT: u8 = 5;
/// Statements have numbers from 0 again.
const FORGET: u8 = 6;
/// A command ended, and an `AUTO_INCREMENT` column gave a number.
const ENDED_WITH_ID: u8 = 7;
/// A session is there, and the collation of its login is known.
const OPENED_WITH_COLLATION: u8 = 8;

/// A piece of a block.
#[derive(Debug)]
pub(crate) enum Piece {
    Record(u8, i64, u32),
    Statement(Vec<u8>),
    Forget,
}

pub(crate) fn put_statement(out: &mut Vec<u8>, text: &[u8]) {
    out.push(STATEMENT);
    put_bytes(out, text);
}

pub(crate) fn put_forget(out: &mut Vec<u8>) {
    out.push(FORGET);
}

/// Appends a record; `statement`: the number of its text.
pub(crate) fn put_record(
    out: &mut Vec<u8>,
    record: &Record,
    after_us: u64,
    statement: Option<u32>,
) {
    let tag = match &record.happening {
        Happening::Opened(login) if login.collation.is_some() => OPENED_WITH_COLLATION,
        Happening::Opened(_) => OPENED,
        Happening::Closed => CLOSED,
        Happening::Started(_) => STARTED,
        Happening::Ended(ended) if ended.insert_id.is_some() => ENDED_WITH_ID,
        Happening::Ended(_) => ENDED,
    };
    out.push(tag);
    put_signed(out, record.at_us.wrapping_sub(after_us).cast_signed());
    put_number(out, u64::from(record.session));
    match &record.happening {
        Happening::Opened(login) => put_login(out, login),
        Happening::Closed => {}
        Happening::Started(started) => put_started(out, started, statement),
        Happening::Ended(ended) => put_ended(out, ended),
    }
}

fn put_login(out: &mut Vec<u8>, login: &Login) {
    put_bytes(out, login.user.as_bytes());
    put_bytes(out, login.schema.as_bytes());
    if let Some(collation) = login.collation {
        put_number(out, u64::from(collation));
    }
}

fn put_started(out: &mut Vec<u8>, started: &CommandStart, statement: Option<u32>) {
    out.push(started.command as u8);
    let flags =
        u64::from(started.is_unusable) * UNUSABLE + u64::from(started.is_truncated) * TRUNCATED;
    put_number(out, flags);
    put_option(out, statement.map(u64::from));
    put_number(out, u64::from(started.handle));
    put_number(out, started.literals.len() as u64);
    for literal in &started.literals {
        put_bytes(out, literal);
    }
    put_number(out, started.values.len() as u64);
    for value in &started.values {
        values::put(out, value);
    }
    if started.command == Command::ChangeUser {
        let login = started.login.clone().unwrap_or_default();
        put_number(out, u64::from(login.collation.is_some()));
        put_login(out, &login);
    }
}

fn put_ended(out: &mut Vec<u8>, ended: &CommandEnd) {
    put_option(out, ended.rows);
    put_option(out, ended.affected);
    put_option(out, ended.error.map(u64::from));
    put_option(out, ended.handle.map(u64::from));
    put_option(out, ended.in_transaction.map(u64::from));
    if let Some(number) = ended.insert_id {
        put_number(out, number);
    }
}

/// A number or none: 0 is none.
fn put_option(out: &mut Vec<u8>, number: Option<u64>) {
    put_number(out, number.map_or(0, |number| number.saturating_add(1)));
}

fn option(cursor: &mut Cursor<'_>) -> Result<Option<u64>, &'static str> {
    Ok(cursor.number()?.checked_sub(1))
}

fn option_of<T: TryFrom<u64>>(cursor: &mut Cursor<'_>) -> Result<Option<T>, &'static str> {
    let number = option(cursor)?;
    let converted = number.map(T::try_from).transpose();
    converted.map_err(|_| "a number is too large")
}

/// The beginning of what comes next.
pub(crate) fn piece(cursor: &mut Cursor<'_>) -> Result<Piece, &'static str> {
    Ok(match cursor.byte()? {
        STATEMENT => Piece::Statement(cursor.bytes()?.to_vec()),
        FORGET => Piece::Forget,
        tag @ (OPENED..=ENDED | ENDED_WITH_ID | OPENED_WITH_COLLATION) => {
            Piece::Record(tag, cursor.signed()?, cursor.number_u32()?)
        }
        _ => return Err("a record is of no kind that is known"),
    })
}

/// Parses the event of a piece that is a record.
pub(crate) fn happening(
    tag: u8,
    cursor: &mut Cursor<'_>,
    statements: &[Arc<Template>],
) -> Result<Happening, &'static str> {
    Ok(match tag {
        OPENED | OPENED_WITH_COLLATION => {
            Happening::Opened(login(tag == OPENED_WITH_COLLATION, cursor)?)
        }
        CLOSED => Happening::Closed,
        STARTED => Happening::Started(started(cursor, statements)?),
        _ => Happening::Ended(CommandEnd {
            rows: option(cursor)?,
            affected: option(cursor)?,
            error: option_of(cursor)?,
            handle: option_of(cursor)?,
            in_transaction: option(cursor)?.map(|number| number != 0),
            insert_id: match tag {
                ENDED_WITH_ID => Some(cursor.number()?),
                _ => None,
            },
        }),
    })
}

fn login(has_collation: bool, cursor: &mut Cursor<'_>) -> Result<Login, &'static str> {
    let mut login = Login {
        user: cursor.text()?,
        schema: cursor.text()?,
        collation: None,
    };
    if has_collation {
        let number = u16::try_from(cursor.number()?);
        login.collation = Some(number.map_err(|_| "a number is too large")?);
    }
    Ok(login)
}

fn started(
    cursor: &mut Cursor<'_>,
    statements: &[Arc<Template>],
) -> Result<CommandStart, &'static str> {
    let command = Command::from_byte(cursor.byte()?).ok_or("a command is none that is known")?;
    let flags = cursor.number()?;
    let template = match option(cursor)? {
        None => None,
        Some(number) => {
            let found = usize::try_from(number)
                .ok()
                .and_then(|number| statements.get(number));
            Some(Arc::clone(found.ok_or("a statement was not told before")?))
        }
    };
    let handle = cursor.number_u32()?;
    let literals = many(cursor, |cursor| cursor.bytes().map(<[u8]>::to_vec))?;
    let values = many(cursor, values::read)?;
    let login = match command {
        Command::ChangeUser => Some(login(cursor.number()? != 0, cursor)?),
        _ => None,
    };
    Ok(CommandStart {
        command,
        template,
        literals,
        handle,
        values,
        is_unusable: flags & UNUSABLE != 0,
        is_truncated: flags & TRUNCATED != 0,
        login,
    })
}

/// So many of something. Each takes a byte at least, which bounds their number.
fn many<T>(
    cursor: &mut Cursor<'_>,
    mut one: impl FnMut(&mut Cursor<'_>) -> Result<T, &'static str>,
) -> Result<Vec<T>, &'static str> {
    let count = cursor.number()?;
    if count > cursor.0.len() as u64 {
        return Err(crate::bytes::CUT);
    }
    (0..count).map(|_| one(cursor)).collect()
}
