//! Parser of the bytes between a client and its server: commands and their replies in their order.

use std::collections::VecDeque;

use mysql_common::Value;
use mysql_common::constants::CapabilityFlags;
use weir_mysql::Compression;

use super::login::{LoginSeen, capabilities, changed_login, hide};
use super::packets::{Cutter, Packet};
use super::parameters::{StatementsByHandle, query_text};
use super::replies::{Form, NotUnderstood, ReplyWatch};
use super::unpacker::Unpacker;
use crate::{Command, CommandEnd, Login};

/// Bytes of a client's packet that are kept: the longest statement that a capture keeps, and its first byte.
const CLIENT_BYTES: usize = (16 << 20) + 16;
/// And of a server's: whatever tells how a reply goes on.
const SERVER_BYTES: usize = 64;
/// Longest greeting.
const GREETING_BYTES_MAX: usize = 4 << 10;
/// Commands that a client may have sent without waiting.
const OUTSTANDING_MAX: usize = 100_000;
/// Bytes of commands that wait for the number of a statement.
const HELD_BYTES_MAX: usize = 64 << 20;
/// `MariaDB`'s number of the statement that was prepared last.
const LAST_PREPARED: u32 = u32::MAX;

/// Event that was seen on a connection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ConnectionEvent {
    /// The login was let in.
    Opened(Login),
    /// A command began.
    Asked(OwnedRequest),
    /// The oldest command ended.
    Ended(CommandEnd),
}

/// A command with its own text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OwnedRequest {
    pub(crate) command: Command,
    pub(crate) text: Option<Vec<u8>>,
    pub(crate) handle: u32,
    pub(crate) values: Vec<Value>,
    /// Parts of it could not be read.
    pub(crate) is_incomplete: bool,
    /// It is a bulk execution, whole, since its parameters could not be read.
    pub(crate) is_unread_bulk: bool,
    /// Of a change of user.
    pub(crate) login: Option<Login>,
}

impl OwnedRequest {
    pub(super) fn new(command: Command) -> Self {
        Self {
            command,
            text: None,
            handle: 0,
            values: Vec::new(),
            is_incomplete: false,
            is_unread_bulk: false,
            login: None,
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Stage {
    Greeting(Vec<u8>),
    Login,
    Commands,
    /// Bytes that are not understood any more, or that are no conversation: they are only passed on.
    Blind,
}

/// A command that waits for its reply.
#[derive(Debug)]
struct Outstanding {
    form: Form,
    is_prepare: bool,
    /// Executions that the one reply is for: several of a bulk execution.
    executions: usize,
}

impl Outstanding {
    fn new(form: Form) -> Self {
        Self {
            form,
            is_prepare: false,
            executions: 1,
        }
    }
}

/// A command that waits until the number of the statement before it is known, and those behind it.
#[derive(Debug)]
struct HeldCommand {
    payload: Vec<u8>,
    is_whole: bool,
}

/// Watches one connection.
#[derive(Debug)]
pub(crate) struct Watch {
    stage: Stage,
    client: Cutter,
    server: Cutter,
    /// The connection compresses.
    unpacker: Option<Unpacker>,
    talk: Talk,
    /// The greeting does not offer encryption.
    hides_tls: bool,
}

#[derive(Debug, Default)]
struct Talk {
    /// Capabilities of the server.
    offered: u32,
    /// And those that the greeting no longer names.
    offered_by_server: u32,
    compression: Option<Compression>,
    login: LoginSeen,
    is_in: bool,
    prepared: StatementsByHandle,
    last_prepared: Option<u32>,
    outstanding: VecDeque<Outstanding>,
    held: VecDeque<HeldCommand>,
    held_bytes: usize,
    reply: Option<ReplyWatch>,
    seen: Vec<ConnectionEvent>,
}

impl Watch {
    pub(crate) fn new(hides_tls: bool) -> Self {
        Self {
            stage: Stage::Greeting(Vec::new()),
            client: Cutter::new(CLIENT_BYTES),
            server: Cutter::new(SERVER_BYTES),
            unpacker: None,
            talk: Talk::default(),
            hides_tls,
        }
    }

    /// Returns what was seen since the last call.
    pub(crate) fn take(&mut self) -> Vec<ConnectionEvent> {
        std::mem::take(&mut self.talk.seen)
    }

    /// Returns true if the bytes that pass are not understood any more.
    pub(crate) fn is_blind(&self) -> bool {
        self.stage == Stage::Blind
    }

    /// Returns the bytes to be passed on in the place of the server's first ones; `None`: as they are.
    pub(crate) fn greeting(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let Stage::Greeting(held) = &mut self.stage else {
            return None;
        };
        held.extend_from_slice(bytes);
        let length = match held.first_chunk::<4>() {
            Some(&[a, b, c, _]) => usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16,
            None => return Some(Vec::new()),
        };
        if held.len() < length + 4 && length <= GREETING_BYTES_MAX {
            return Some(Vec::new());
        }
        let mut greeting = std::mem::take(held);
        let hides_tls = self.hides_tls;
        let payload = greeting.get_mut(4..4 + length);
        self.talk.offered_by_server = payload.as_deref().and_then(capabilities).unwrap_or(0);
        let offered = payload.and_then(|payload| hide(payload, hides_tls));
        // An error in place of a greeting is passed on, too.
        self.stage = match offered {
            Some(offered) => {
                self.talk.offered = offered;
                Stage::Login
            }
            None => Stage::Blind,
        };
        Some(greeting)
    }

    /// Looks at what the client has sent.
    pub(crate) fn client_sent(&mut self, bytes: &[u8]) {
        let talk = &mut self.talk;
        let fed = match self.stage {
            Stage::Greeting(_) | Stage::Blind => return,
            Stage::Login => self.client.feed(bytes, |packet| talk.login_packet(packet)),
            Stage::Commands => {
                let cutter = &mut self.client;
                let mut feed = |plain: &[u8]| cutter.feed(plain, |packet| talk.command(packet));
                match &mut self.unpacker {
                    Some(unpacker) => unpacker.client_sent(bytes, feed),
                    None => feed(bytes),
                }
            }
        };
        self.settle(fed);
    }

    /// Looks at what the server has sent, the greeting apart.
    pub(crate) fn server_sent(&mut self, bytes: &[u8]) {
        let talk = &mut self.talk;
        let fed = match self.stage {
            Stage::Greeting(_) | Stage::Blind => return,
            Stage::Login => self.server.feed(bytes, |packet| talk.login_reply(packet)),
            Stage::Commands => {
                let cutter = &mut self.server;
                let mut feed = |plain: &[u8]| cutter.feed(plain, |packet| talk.reply(packet));
                match &mut self.unpacker {
                    Some(unpacker) => unpacker.server_sent(bytes, feed),
                    None => feed(bytes),
                }
            }
        };
        if self.stage == Stage::Login && self.talk.is_in {
            self.stage = Stage::Commands;
            self.unpacker = self.talk.compression.map(Unpacker::new);
        }
        self.settle(fed);
    }

    fn settle(&mut self, fed: Result<(), NotUnderstood>) {
        if fed.is_err() {
            self.stage = Stage::Blind;
        }
    }
}

impl Talk {
    fn login_packet(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        if self.login == LoginSeen::default() {
            self.login = LoginSeen::read(packet.payload).ok_or(NotUnderstood)?;
            // PHP's mysqlnd compresses whatever it is offered, and the server does as it is asked.
            self.compression = self.login.compression(self.offered_by_server);
            // A client may name what it can do although the server cannot: neither does it then.
            self.login.capabilities &= self.offered;
        }
        // What follows are the account's secrets; nothing of it is looked at.
        Ok(())
    }

    fn login_reply(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        match packet.payload.first() {
            Some(0x00) if !self.is_in => {
                self.is_in = true;
                self.seen
                    .push(ConnectionEvent::Opened(Login::from(&self.login)));
                Ok(())
            }
            // It was refused, and the server closes.
            Some(0xFF) | None => Err(NotUnderstood),
            Some(_) => Ok(()),
        }
    }

    fn command(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        if packet.sequence != 0 {
            // A file that the server wants, or a dialogue.
            return Ok(());
        }
        if self.outstanding.len() >= OUTSTANDING_MAX {
            return Err(NotUnderstood);
        }
        if self.has_to_wait(packet.payload) {
            return self.hold(packet);
        }
        let (&code, body) = packet.payload.split_first().ok_or(NotUnderstood)?;
        match code {
            // COM_QUIT has no reply; the connection closes.
            0x01 => {}
            0x02 => self.ask_text(Command::UseSchema, body, Form::One, packet),
            0x03 => {
                let text = query_text(body, &self.login).ok_or(NotUnderstood)?;
                self.ask_text(Command::Query, text, Form::Results, packet);
            }
            0x16 => self.ask_text(Command::Prepare, body, Form::Prepared, packet),
            0x17 => self.execute(body, packet),
            0x18 => self.prepared.add_piece(body),
            0x19 => self.close(body),
            // COM_STMT_RESET
            0x1A => {
                self.prepared.reset(handle(body));
                self.ask(Command::Other, Form::One);
            }
            // COM_RESET_CONNECTION, COM_CHANGE_USER
            0x1F => {
                self.prepared.forget_all();
                self.ask(Command::Reset, Form::One);
            }
            0x11 => self.change_user(body)?,
            // COM_FIELD_LIST, COM_STMT_FETCH
            0x04 | 0x1C => self.ask(Command::Other, Form::Rows),
            // COM_PROCESS_INFO
            0x0A => self.ask(Command::Other, Form::Results),
            // COM_STMT_BULK_EXECUTE
            0xFA => self.execute_bulk(body, packet),
            // COM_REFRESH, COM_SHUTDOWN, COM_STATISTICS, COM_PROCESS_KILL, COM_DEBUG, COM_PING, COM_SET_OPTION
            0x07..=0x09 | 0x0C..=0x0E | 0x1B => self.ask(Command::Other, Form::One),
            // A replica, or what is not known here.
            _ => return Err(NotUnderstood),
        }
        Ok(())
    }

    /// Returns true if a command is held back. Such a command names the statement that was prepared last, whose number
    /// is not known yet, or follows one that does.
    fn has_to_wait(&self, payload: &[u8]) -> bool {
        let is_execution = matches!(payload.first(), Some(0x17 | 0xFA));
        let names_last = is_execution && handle(&payload[1..]) == LAST_PREPARED;
        let is_preparing = || self.outstanding.iter().any(|open| open.is_prepare);
        !self.held.is_empty() || names_last && is_preparing()
    }

    fn hold(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        self.held_bytes += packet.payload.len();
        if self.held_bytes > HELD_BYTES_MAX {
            return Err(NotUnderstood);
        }
        self.held.push_back(HeldCommand {
            payload: packet.payload.to_vec(),
            is_whole: packet.is_whole(),
        });
        Ok(())
    }

    /// Takes the commands that waited for the statement that has just been prepared.
    fn let_go(&mut self) -> Result<(), NotUnderstood> {
        let mut held = std::mem::take(&mut self.held);
        self.held_bytes = 0;
        while let Some(command) = held.pop_front() {
            let length = command.payload.len() + usize::from(!command.is_whole);
            self.command(Packet {
                sequence: 0,
                payload: &command.payload,
                length,
            })?;
            if !self.held.is_empty() {
                // It waits for another preparation, and so do those behind it.
                self.held_bytes += held.iter().map(|other| other.payload.len()).sum::<usize>();
                self.held.extend(held);
                return Ok(());
            }
        }
        Ok(())
    }

    fn ask_text(&mut self, command: Command, text: &[u8], form: Form, packet: Packet<'_>) {
        self.outstanding.push_back(Outstanding {
            is_prepare: command == Command::Prepare,
            ..Outstanding::new(form)
        });
        self.seen.push(ConnectionEvent::Asked(OwnedRequest {
            text: Some(text.to_vec()),
            is_incomplete: !packet.is_whole(),
            ..OwnedRequest::new(command)
        }));
    }

    fn ask(&mut self, command: Command, form: Form) {
        self.outstanding.push_back(Outstanding::new(form));
        self.seen
            .push(ConnectionEvent::Asked(OwnedRequest::new(command)));
    }

    fn change_user(&mut self, body: &[u8]) -> Result<(), NotUnderstood> {
        let mut login = changed_login(body).ok_or(NotUnderstood)?;
        // Clients of old leave the character set as it was.
        login.collation = login.collation.or(Some(self.login.collation));
        self.prepared.forget_all();
        self.outstanding.push_back(Outstanding::new(Form::Dialogue));
        self.seen.push(ConnectionEvent::Asked(OwnedRequest {
            login: Some(login),
            ..OwnedRequest::new(Command::ChangeUser)
        }));
        Ok(())
    }

    /// The body of an execution with the number of its statement, where it names the last one.
    fn named(&self, body: &[u8]) -> Vec<u8> {
        let mut named = body.to_vec();
        if handle(body) == LAST_PREPARED
            && let Some(last) = self.last_prepared
        {
            named[..4].copy_from_slice(&last.to_le_bytes());
        }
        named
    }

    fn execute(&mut self, body: &[u8], packet: Packet<'_>) {
        let (handle, values) = self.prepared.execution(&self.named(body), &self.login);
        self.outstanding.push_back(Outstanding::new(Form::Results));
        self.seen.push(ConnectionEvent::Asked(OwnedRequest {
            handle,
            is_incomplete: values.is_none() || !packet.is_whole(),
            values: values.unwrap_or_default(),
            ..OwnedRequest::new(Command::Execute)
        }));
    }

    /// Each set of parameters is an execution. The one reply is for all of them.
    fn execute_bulk(&mut self, body: &[u8], packet: Packet<'_>) {
        let (handle, sets) = self.prepared.bulk(&self.named(body));
        let sets = sets.filter(|sets| packet.is_whole() && !sets.is_empty());
        let executions = sets.as_ref().map_or(1, Vec::len);
        self.outstanding.push_back(Outstanding {
            executions,
            ..Outstanding::new(Form::Results)
        });
        let Some(sets) = sets else {
            self.seen.push(ConnectionEvent::Asked(OwnedRequest {
                handle,
                is_incomplete: true,
                is_unread_bulk: true,
                ..OwnedRequest::new(Command::Execute)
            }));
            return;
        };
        self.seen.extend(sets.into_iter().map(|values| {
            ConnectionEvent::Asked(OwnedRequest {
                handle,
                is_incomplete: values.is_none(),
                is_unread_bulk: values.is_none(),
                values: values.unwrap_or_default(),
                ..OwnedRequest::new(Command::Execute)
            })
        }));
    }

    fn close(&mut self, body: &[u8]) {
        let handle = handle(body);
        self.prepared.forget(handle);
        self.seen.push(ConnectionEvent::Asked(OwnedRequest {
            handle,
            ..OwnedRequest::new(Command::Close)
        }));
    }

    fn reply(&mut self, packet: Packet<'_>) -> Result<(), NotUnderstood> {
        let Some(front) = self.outstanding.front() else {
            // What a server says unasked is its farewell.
            let is_farewell = packet.payload.first() == Some(&0xFF);
            return if is_farewell {
                Ok(())
            } else {
                Err(NotUnderstood)
            };
        };
        let has_eof = !self.login.has(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let reply = self
            .reply
            .get_or_insert_with(|| ReplyWatch::new(front.form, has_eof));
        let Some(ended) = reply.packet(packet)? else {
            return Ok(());
        };
        let (is_prepare, executions) = (front.is_prepare, front.executions);
        if is_prepare {
            if let Some(handle) = ended.handle {
                self.prepared.add(handle, reply.parameters);
            }
            self.last_prepared = ended.handle;
        }
        self.outstanding.pop_front();
        self.reply = None;
        if executions == 1 {
            self.seen.push(ConnectionEvent::Ended(ended));
        } else {
            let ended = ConnectionEvent::Ended(ended_of_many(ended));
            self.seen.extend(std::iter::repeat_n(ended, executions));
        }
        if is_prepare { self.let_go() } else { Ok(()) }
    }
}

/// Returns the end of each of several executions that have one reply. Counts of a reply are of all of them together; an
/// error is that of the whole.
fn ended_of_many(ended: CommandEnd) -> CommandEnd {
    CommandEnd {
        error: ended.error,
        in_transaction: ended.in_transaction,
        ..CommandEnd::default()
    }
}

/// The number of a statement at the beginning of a command's body.
fn handle(body: &[u8]) -> u32 {
    body.first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests;
