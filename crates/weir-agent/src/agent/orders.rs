//! Orders of a conductor, as far as the agent's owner allows them.

use nkeys::XKey;
use weir_load::PlanMessage;
use weir_model::Secret;
use weir_process::{instant_at, monotonic_ns};

use super::job::{Job, StartOrder};
use super::prepare_job::PrepareJob;
use super::watch::Watch;
use super::{Agent, delivery, refused};
use crate::allowance::Permission;
use crate::messages::{Answer, Assignment, SealedPassword, WatchOrder};
use crate::prepare_message::PrepareMessage;

/// An order to begin must come so long before.
const NOTICE_NS: u64 = 100_000_000;
/// Watches at a time: those of runs, and earlier ones that have not ended yet.
const WATCHES_MAX: usize = 16;

impl Agent<'_> {
    /// Begins to connect for a share of a run.
    #[allow(clippy::result_large_err, reason = "an answer is sent, once a run")]
    pub(super) fn assign(
        &mut self,
        assignment: Assignment<PlanMessage>,
        reply: Option<async_nats::Subject>,
    ) -> Result<(), Answer> {
        let password = self.accept(&assignment)?;
        let writes_replicas = assignment.writes_replicas;
        let mut plan = assignment.plan.plan(password).map_err(refused)?;
        self.options.allowance.check(&plan).map_err(refused)?;
        let authority = assignment.authority.arrive(&mut plan.endpoint.tls);
        let authority = authority.map_err(refused)?;
        let (reports, delivery) = delivery::start(
            &self.client,
            self.subjects
                .result(&assignment.run, &self.options.join.name),
            &assignment.run,
            &self.options.join.name,
        );
        self.delivery = Some(delivery);
        let job = Job::start(
            assignment.run,
            (plan, authority),
            writes_replicas,
            reply,
            self.events.clone(),
            reports,
        );
        self.job = Some(job.map_err(refused)?);
        Ok(())
    }

    /// Begins to make tables.
    #[allow(clippy::result_large_err, reason = "an answer is sent, once a run")]
    pub(super) fn prepare(
        &mut self,
        assignment: Assignment<PrepareMessage>,
        on_event: &mut dyn FnMut(&str),
    ) -> Result<(), Answer> {
        let password = self.accept(&assignment)?;
        let writes_replicas = assignment.writes_replicas;
        let mut plan = assignment.plan.plan(password).map_err(refused)?;
        let allowed = self.options.allowance.check_tables(&plan);
        allowed.map_err(refused)?;
        let authority = assignment.authority.arrive(&mut plan.endpoint.tls);
        let authority = authority.map_err(refused)?;
        on_event(&format!("run {}: making tables", assignment.run));
        let preparing = PrepareJob::start(assignment.run, (plan, authority), writes_replicas);
        self.preparing = Some(preparing.map_err(refused)?);
        Ok(())
    }

    /// The password, if the agent is this conductor's and a load by it is allowed.
    #[allow(clippy::result_large_err, reason = "an answer is sent, once a run")]
    fn accept<P>(&mut self, assignment: &Assignment<P>) -> Result<Secret, Answer> {
        self.take_for(&assignment.run)?;
        if assignment.version != self.options.version {
            return Err(self.other_version(&assignment.version));
        }
        let allowed = self.options.allowance.permits(Permission::Load);
        allowed.map_err(refused)?;
        self.open(&assignment.password).map_err(refused)
    }

    /// Begins to watch the host of a server.
    pub(super) fn watch(&mut self, order: &WatchOrder) -> Answer {
        if order.version != self.options.version {
            return self.other_version(&order.version);
        }
        if let Err(why) = self.options.allowance.permits(Permission::Probe) {
            return refused(why);
        }
        if self.watches.len() >= WATCHES_MAX {
            return refused(format!(
                "{WATCHES_MAX} conductors read this host's figures already; wait until one of them has ended"
            ));
        }
        match Watch::start(order, &self.facts.process, self.events.clone()) {
            Ok((watch, watched)) => {
                self.watches.push(watch);
                Answer::Watching(watched)
            }
            Err(why) => refused(why),
        }
    }

    /// Asks for the figures of a watch; whether the answer will come.
    pub(super) fn sample(
        &mut self,
        id: &str,
        reply: Option<async_nats::Subject>,
        on_event: &mut dyn FnMut(&str),
    ) -> bool {
        let mut of_session = self.serving.iter_mut().flat_map(|one| &mut one.watches);
        if let Some(watch) = of_session.find(|watch| watch.is(id)) {
            return watch.ask(reply);
        }
        let Some(watch) = self.watches.iter_mut().find(|watch| watch.is(id)) else {
            return false;
        };
        if !watch.is_read() {
            on_event("a conductor reads this host's figures");
        }
        watch.ask(reply)
    }

    /// A watch is over.
    pub(super) fn watch_has_ended(&mut self, id: &str, on_event: &mut dyn FnMut(&str)) {
        let mut watches = self.watches.iter();
        if watches.any(|watch| watch.is(id) && watch.is_read()) {
            on_event("no conductor reads this host's figures any more");
        }
        self.watches.retain(|watch| !watch.is(id));
        if let Some(serving) = &mut self.serving {
            serving.watches.retain(|watch| !watch.is(id));
        }
    }

    pub(super) fn other_version(&self, theirs: &str) -> Answer {
        refused(format!(
            "its version is {}, the conductor's is {theirs}; install the same on both hosts",
            self.options.version
        ))
    }

    pub(super) fn open(&self, password: &SealedPassword) -> Result<Secret, String> {
        let failed =
            |error: nkeys::error::Error| format!("the password cannot be opened ({error})");
        let sender = XKey::from_public_key(&password.sealed_by).map_err(failed)?;
        let opened = self.sealing_key.open(&password.bytes, &sender);
        let text = String::from_utf8(opened.map_err(failed)?);
        text.map(Secret::new)
            .map_err(|_| "the password is no text".to_owned())
    }

    pub(super) fn arm(&mut self, run: &str, start_ns: u64, reporters_before: u32) -> Answer {
        if monotonic_ns() + NOTICE_NS > start_ns {
            return refused("the order to begin came too late".to_owned());
        }
        let order = StartOrder::Arm(weir_load::PartStart {
            at: instant_at(start_ns),
            reporters_before,
        });
        self.order_start(run, order)
    }

    pub(super) fn order_start(&mut self, run: &str, order: StartOrder) -> Answer {
        self.hear_conductor(run);
        match self.job.as_ref().filter(|job| job.run == run) {
            Some(job) if job.order(order) => Answer::Done,
            _ => refused(format!("it has no run {run} that waits for its start")),
        }
    }
}
