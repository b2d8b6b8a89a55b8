//! Inputs of a session's turn: a buffer for its request, random numbers, the time.

use weir_model::Address;
use weir_mysql::{
    ClientError, ExpectedReply, Gate, Passage, Request, ScriptPermit, ServerError, Value, WireRows,
};
use weir_workload::Rng;

use crate::LoadError;
use crate::meter::{Counts, Meter};

/// A session's turn.
///
/// Texts pass the gate of the run before they are left here, except those of a script with its permit; one that may
/// not be sent ends the run.
#[derive(Debug)]
pub struct Turn<'a> {
    pub(crate) out: &'a mut Vec<u8>,
    pub(crate) rng: &'a mut Rng,
    /// Memory to put values together in.
    pub(crate) scratch: &'a mut Vec<u8>,
    pub(crate) meter: &'a Meter<'a>,
    pub(crate) gate: &'a Gate,
    pub(crate) address: &'a Address,
    /// Reply that the request expects.
    pub(crate) expected: ExpectedReply,
    /// The rows of the answer, if they are to be read in place.
    pub(crate) wire_rows: &'a WireRows,
    /// Reason that the run cannot go on, such as a text that may not be sent.
    pub(crate) refusal: Option<LoadError>,
    /// Counts beside the connection's requests.
    pub(crate) counted: Counts,
    /// The session has waited by itself.
    pub(crate) has_waited: bool,
    /// Statements that were answered on sockets of the session's own, and when they were asked.
    pub(crate) completed: Vec<(usize, u64)>,
    /// Errors that came on such sockets.
    pub(crate) failed: Vec<ServerError>,
}

impl<'a> Turn<'a> {
    /// A turn that leaves its request in `out` after an answer of `wire_rows`; `to`: which server, and what it may
    /// be sent.
    pub(crate) fn new(
        out: &'a mut Vec<u8>,
        rng: &'a mut Rng,
        scratch: &'a mut Vec<u8>,
        meter: &'a Meter<'a>,
        (address, gate): (&'a Address, &'a Gate),
        wire_rows: &'a WireRows,
    ) -> Self {
        Self {
            out,
            rng,
            scratch,
            meter,
            gate,
            address,
            expected: ExpectedReply::Outcome,
            wire_rows,
            refusal: None,
            counted: Counts::default(),
            has_waited: false,
            completed: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Nanoseconds since the run began.
    pub fn now_ns(&self) -> u64 {
        self.meter.last_now()
    }

    /// The connection's random numbers: the same in each run of the same seed.
    pub fn rng(&mut self) -> &mut Rng {
        self.rng
    }

    /// Asks for a statement as text.
    pub fn query(&mut self, sql: &str) {
        if self.admit(sql) {
            self.expected = ExpectedReply::TextRows;
            let mut request = Request::query(self.out);
            request.sql().extend_from_slice(sql.as_bytes());
            request.finish();
        }
    }

    /// Asks for a statement as text in whatever encoding, unless it may not be sent; whether it was left. `kind`: the
    /// same statement for the gate, which may leave out numbers and strings that hide nothing.
    pub fn try_query(&mut self, kind: &str, sql: &[u8]) -> bool {
        if !self.may_send(kind) {
            return false;
        }
        self.expected = ExpectedReply::TextRows;
        let mut request = Request::query(self.out);
        request.sql().extend_from_slice(sql);
        request.finish();
        true
    }

    /// Asks to prepare a statement, unless it may not be sent; whether it was left.
    pub fn try_prepare(&mut self, sql: &[u8]) -> bool {
        let may_send = self.may_send(&String::from_utf8_lossy(sql));
        if may_send {
            self.ask_to_prepare(sql);
        }
        may_send
    }

    /// Asks to make the connection as new (`COM_RESET_CONNECTION`).
    pub fn reset(&mut self) {
        self.expected = ExpectedReply::Outcome;
        Request::reset(self.out);
    }

    fn may_send(&self, sql: &str) -> bool {
        matches!(self.gate.admit(self.address, sql), Ok(Passage::Sent))
    }

    /// Asks to prepare a statement; the answer is [`Reply::Prepared`](weir_mysql::Reply::Prepared).
    pub fn prepare(&mut self, sql: &str) {
        if self.admit(sql) {
            self.ask_to_prepare(sql.as_bytes());
        }
    }

    fn ask_to_prepare(&mut self, sql: &[u8]) {
        self.expected = ExpectedReply::Statement;
        let mut request = Request::prepare(self.out);
        request.sql().extend_from_slice(sql);
        request.finish();
    }

    /// The permit that the run's gate gives a script. Without one, its texts cannot be asked for and the run ends.
    pub fn script_permit(&mut self) -> Option<ScriptPermit<'a>> {
        let permit = self.gate.script_permit();
        if permit.is_none() {
            self.refusal = Some(LoadError::Client(ClientError::Forbidden {
                address: self.address.to_string(),
                statement: "a statement of a script".to_owned(),
                why: "this command does not allow a script".to_owned(),
            }));
        }
        permit
    }

    /// Asks to execute a statement that was prepared on this connection.
    pub fn execute(&mut self, statement_id: u32, values: &[Value]) {
        self.expected = ExpectedReply::TypedRows;
        Request::execute_with(self.out, statement_id, values);
    }

    /// Asks for a text of a script's, all of whose results are wanted, see [`Session::results`](super::Session). No
    /// gate judges it.
    pub fn query_results(&mut self, _: ScriptPermit<'a>, sql: &[u8]) {
        self.expected = ExpectedReply::TextResults;
        let mut request = Request::query(self.out);
        request.sql().extend_from_slice(sql);
        request.finish();
    }

    /// Asks to prepare a text of a script's. No gate judges it.
    pub fn prepare_text(&mut self, _: ScriptPermit<'a>, sql: &[u8]) {
        self.ask_to_prepare(sql);
    }

    /// Asks to execute a prepared statement, all of whose results are wanted.
    pub fn execute_results(&mut self, statement_id: u32, values: &[Value]) {
        self.expected = ExpectedReply::TypedResults;
        Request::execute_with(self.out, statement_id, values);
    }

    /// Counts something that was not done by a request of this connection.
    pub fn count(&mut self, counted: Counts) {
        self.counted.add(&counted);
    }

    /// The session has waited within this turn: a transaction that ends with it ends now.
    pub fn waited(&mut self) {
        self.has_waited = true;
    }

    /// A statement of this kind was answered on a socket of the session's own; it was asked then, nanoseconds since
    /// the run began.
    pub fn completed(&mut self, kind: usize, asked_ns: u64) {
        self.completed.push((kind, asked_ns));
    }

    /// A try has failed with this error on a socket of the session's own.
    pub fn failed(&mut self, error: ServerError) {
        self.failed.push(error);
    }

    /// Lets the server forget a prepared statement. It is not answered: a request has to follow.
    pub fn close(&mut self, statement_id: u32) {
        Request::close(self.out, statement_id);
    }

    fn admit(&mut self, sql: &str) -> bool {
        match self.gate.admit(self.address, sql) {
            Ok(Passage::Sent) => true,
            // A rehearsal sends nothing and does not get here.
            Ok(_) => false,
            Err(error) => {
                self.refusal = Some(error.into());
                false
            }
        }
    }
}
