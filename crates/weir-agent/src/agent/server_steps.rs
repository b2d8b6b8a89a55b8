//! Orders of a conductor to this host's servers, as far as the agent's owner allows them.

use async_nats::Subject;

use super::hosted_session::{HostedSession, StepReply};
use super::watch::Watch;
use super::{Agent, refused};
use crate::allowance::Permission;
use crate::messages::{Answer, ServeOrder, json};
use crate::server_role::{ServerOutcome, ServerStep};

impl Agent<'_> {
    /// Takes a step; `None`: its answer comes later.
    pub(super) fn serve_step(
        &mut self,
        order: ServeOrder,
        reply: Option<Subject>,
        on_event: &mut dyn FnMut(&str),
    ) -> Option<Vec<u8>> {
        match self.take_step(order, reply, on_event) {
            Ok(StepReply::Now(answer)) => Some(answer),
            Ok(StepReply::Later) => None,
            Err(answer) => Some(json(&answer)),
        }
    }

    #[allow(clippy::result_large_err, reason = "an answer is sent, once a step")]
    fn take_step(
        &mut self,
        order: ServeOrder,
        reply: Option<Subject>,
        on_event: &mut dyn FnMut(&str),
    ) -> Result<StepReply, Answer> {
        if order.version != self.options.version {
            return Err(self.other_version(&order.version));
        }
        let allowed = self.options.allowance.permits(Permission::Server);
        allowed.map_err(refused)?;
        let password = order.password.as_ref();
        let password = password.map(|sealed| self.open(sealed)).transpose();
        let password = password.map_err(refused)?;
        if matches!(order.step, ServerStep::Open { .. }) && self.serving.is_none() {
            let role = self.options.server_role.clone();
            let role = role.ok_or_else(|| refused("it has no folder for servers".to_owned()))?;
            let serving = HostedSession::start(order.session.clone(), role, self.events.clone());
            self.serving = Some(serving.map_err(refused)?);
            on_event("a study has its server on this host");
        }
        let Some(serving) = &mut self.serving else {
            let why = "it ended the server meanwhile, because the conductor was silent or the agent was started again";
            return Err(refused(why.to_owned()));
        };
        if serving.session != order.session {
            return Err(Answer::Busy);
        }
        let client = order.client.seen_by(&self.facts.process);
        Ok(serving.take(order, (password, client), reply, &self.events))
    }

    /// The conductor of a session gives a sign of life.
    pub(super) fn hear_session(&mut self, session: &str) {
        if let Some(serving) = self.of_session(session) {
            serving.hear();
        }
    }

    /// Ends a session; `None`: the answer comes when all is gone.
    pub(super) fn end_session(&mut self, session: &str, reply: Option<Subject>) -> Option<Answer> {
        let Some(serving) = self.of_session(session) else {
            return Some(Answer::Done);
        };
        serving.end(reply);
        None
    }

    fn of_session(&mut self, session: &str) -> Option<&mut HostedSession> {
        self.serving
            .as_mut()
            .filter(|serving| serving.session == session)
    }

    /// A step is done: its answer, and who waits for it.
    pub(super) fn step_is_done(
        &mut self,
        session: &str,
        number: u64,
        outcome: Result<ServerOutcome, String>,
        on_event: &mut dyn FnMut(&str),
    ) -> Option<(Subject, Vec<u8>)> {
        self.of_session(session)?;
        let answer = match outcome {
            Ok(ServerOutcome::Reply(reply)) => Answer::Served(reply),
            Ok(ServerOutcome::Probes(probes)) => self.watch_server(probes),
            Err(why) => {
                on_event(&format!("the study's server: {why}"));
                refused(why)
            }
        };
        self.of_session(session)?.done(number, json(&answer))
    }

    /// Watches each source apart: one that waits for a busy server keeps no other waiting.
    fn watch_server(&mut self, probes: Vec<Box<dyn weir_probe::Probe>>) -> Answer {
        let (mut watching, mut watches) = (Vec::new(), Vec::new());
        for probe in probes {
            let name = probe.name().to_owned();
            match Watch::of_own_server(probe, self.events.clone()) {
                Ok(watch) => {
                    watching.push((name, watch.id().to_owned()));
                    watches.push(watch);
                }
                Err(why) => return refused(why),
            }
        }
        if let Some(serving) = &mut self.serving {
            serving.watches = watches;
        }
        Answer::WatchingServer(watching)
    }

    /// All that a session started is gone; who waited for that.
    pub(super) fn session_has_ended(
        &mut self,
        session: &str,
        on_event: &mut dyn FnMut(&str),
    ) -> Option<Subject> {
        self.of_session(session)?;
        on_event("the study's server is gone from this host");
        self.serving.take()?.ended()
    }

    /// Tells a conductor that waits that its step goes on. One that is gone has no server here any more.
    pub(super) async fn keep_session(&mut self, has_bus: bool) {
        let Some(serving) = &mut self.serving else {
            return;
        };
        if serving.is_alone(has_bus) && !serving.is_ending() {
            serving.end(None);
        }
        if has_bus && let Some((reply, answer)) = serving.still_working() {
            self.answer(Some(&reply), &answer).await;
        }
    }
}
