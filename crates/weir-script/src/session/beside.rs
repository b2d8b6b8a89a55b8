//! Connections of a script that the engine does not drive: the session asks itself, and the reactor watches their sockets.

use std::time::Instant;

use crate::lua::{CoroutineStep, PendingRequest, Request};
use weir_load::{Step, Turn};

use super::Inner;
use crate::connect::{Link, RequestProgress, gone};

impl Inner {
    /// Returns true if the engine is to send this request.
    pub(super) fn is_driven(&self, pending: &PendingRequest) -> bool {
        let is_asked = !matches!(pending.request(), Request::NextResult);
        is_asked && self.ready.part.borrow().driven == Some(pending.connection)
    }

    /// Sends a request on a connection of the session's own; what the script has come to with the answer, or what
    /// the session waits for.
    pub(super) fn ask_beside(
        &mut self,
        pending: PendingRequest,
        turn: &mut Turn<'_>,
    ) -> Result<CoroutineStep, Step> {
        let request = pending.request();
        let kind = self.kinds.of_request(&request);
        let asked = {
            let mut share = self.ready.part.borrow_mut();
            match (share.links.get_mut(&pending.connection), request) {
                (None, _) => RequestProgress::Answer(Err(gone())),
                (Some(link), Request::NextResult) => RequestProgress::Answer(link.next_result()),
                (Some(link), request) => {
                    link.begin(&request);
                    link.go_on()
                }
            }
        };
        self.beside = Some((kind, turn.now_ns()));
        self.follow(pending, asked, turn)
    }

    /// Goes on where a connection of the session's own may have an answer.
    pub(super) fn go_on_beside(&mut self, turn: &mut Turn<'_>) -> Step {
        let Some(pending) = self.pending.take() else {
            return Step::End;
        };
        let began = Instant::now();
        let asked = {
            let mut share = self.ready.part.borrow_mut();
            let link = share.links.get_mut(&pending.connection);
            link.map_or_else(|| RequestProgress::Answer(Err(gone())), Link::go_on)
        };
        match self.follow(pending, asked, turn) {
            Ok(turned) => self.turned(turned, began, turn),
            Err(step) => step,
        }
    }

    fn follow(
        &mut self,
        pending: PendingRequest,
        asked: RequestProgress,
        turn: &mut Turn<'_>,
    ) -> Result<CoroutineStep, Step> {
        let reply = match asked {
            RequestProgress::Awaits(socket) => {
                self.pending = Some(pending);
                return Err(Step::Await(socket));
            }
            RequestProgress::Answer(reply) => reply,
        };
        if let (Some((Some(kind), asked_ns)), Ok(_)) = (self.beside.take(), &reply) {
            turn.completed(kind, asked_ns);
        }
        let mut share = self.ready.part.borrow_mut();
        share.is_counted = false;
        share.note_error(&reply);
        drop(share);
        let Some(events) = &mut self.events else {
            return Err(Step::End);
        };
        Ok(self.ready.state.replied(events, pending, reply))
    }
}
