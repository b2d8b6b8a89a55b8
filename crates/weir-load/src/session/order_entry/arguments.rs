//! The values of a statement, as its parameters or as literals in its text.

use weir_mysql::Request;
use weir_workload::Value;
use weir_workload::order_entry::put_decimal;

use super::super::compiled::Form;
use super::super::statements::Handle;

/// A request whose values are being appended.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    request: Request<'a>,
    /// Texts between the values of a text.
    pieces: Option<std::slice::Iter<'a, Vec<u8>>>,
}

impl<'a> Arguments<'a> {
    /// Begins the request of a statement.
    pub(super) fn new(out: &'a mut Vec<u8>, form: &'a Form, handle: &mut Handle) -> Self {
        if handle.is_text {
            let mut pieces = form.pieces[0].iter();
            let mut request = Request::query(out);
            if let Some(piece) = pieces.next() {
                request.sql().extend_from_slice(piece);
            }
            return Self {
                request,
                pieces: Some(pieces),
            };
        }
        let typed = !handle.is_typed;
        handle.is_typed = true;
        Self {
            request: Request::execute(out, &form.execute, handle.id, typed),
            pieces: None,
        }
    }

    /// Appends a whole number.
    pub(super) fn integer(&mut self, number: impl Into<i64>) {
        let number = number.into();
        match self.pieces {
            None => self.request.integer(number as i32),
            Some(_) => self.literal(Value::Integer(number)),
        }
    }

    /// Appends several whole numbers.
    pub(super) fn integers(&mut self, numbers: impl IntoIterator<Item = impl Into<i64>>) {
        for number in numbers {
            self.integer(number);
        }
    }

    /// Appends an amount.
    pub(super) fn cents(&mut self, cents: i64) {
        let write = |digits: &mut Vec<u8>| put_decimal(digits, cents, 2);
        if self.pieces.is_none() {
            return self.request.decimal(write);
        }
        write(self.request.sql());
        self.piece();
    }

    /// Appends a text.
    pub(super) fn text(&mut self, text: &[u8]) {
        match self.pieces {
            None => self.request.text(text),
            Some(_) => self.literal(Value::Text(text)),
        }
    }

    /// Ends the request.
    pub(super) fn finish(self) {
        self.request.finish();
    }

    fn literal(&mut self, value: Value<'_>) {
        value.put_literal(self.request.sql());
        self.piece();
    }

    fn piece(&mut self) {
        if let Some(piece) = self.pieces.as_mut().and_then(Iterator::next) {
            self.request.sql().extend_from_slice(piece);
        }
    }
}
