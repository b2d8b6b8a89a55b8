//! `weir load --agents=N`: the load of several hosts.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use weir_agent::{AgentPool, AgentRequirement};
use weir_load::{LoadOutcome, LoadPlan, LoadingStep, Progress};
use weir_model::LoadHost;
use weir_mysql::Gate;
use weir_sysbench::Invocation;

/// Error of a clock beyond which second-by-second numbers are worth a word, microseconds.
const CLOCK_ERROR_US_MAX: f64 = 1_000.0;

/// Runs the load in this process, or from as many agents as the command line says.
pub(super) fn run(
    invocation: &Invocation,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> anyhow::Result<LoadOutcome> {
    let (plan, agents) = (&invocation.plan, invocation.plan.load.agents);
    if agents == 0 {
        return Ok(weir_load::run_observed(plan, gate, stop, on_progress)?);
    }
    let crew = AgentPool::join(&AgentPool::usual_file(), env!("WEIR_COMMIT"))?;
    let asked = Instant::now();
    let allow_replica = invocation.allow_replica;
    let conducted = crew.run(plan, agents, allow_replica, stop, &mut |progress| {
        if let Progress::Began(measured_from) = progress {
            eprintln!("{}", ready_line(plan, asked, measured_from));
        }
        on_progress(progress);
    })?;
    for share in &conducted.shares {
        eprintln!("{}", line(share, conducted.outcome.measured_s));
    }
    Ok(conducted.outcome)
}

/// Says once that rows go in more slowly than they could.
pub(super) fn tell_inserts(step: LoadingStep<'_>) {
    if let LoadingStep::Inserts(words) = step {
        eprintln!("LOAD DATA LOCAL was refused ({words}); the rows go in by INSERT");
    }
}

/// Makes the tables in this process, or from as many agents as the command line says.
pub(super) fn prepare(
    invocation: &Invocation,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<()> {
    let (plan, agents) = (&invocation.prepare, invocation.plan.load.agents);
    // Agents change what a rehearsal only tells; empty tables need none.
    if agents == 0 || gate.is_rehearsal() || plan.workload.is_bulk() {
        let tell = &tell_inserts;
        return Ok(weir_load::prepare_observed(
            plan,
            gate,
            stop,
            on_progress,
            tell,
        )?);
    }
    let wanted = AgentRequirement {
        count: agents,
        label: &invocation.plan.load.agent_label,
    };
    let crew = AgentPool::join(&AgentPool::usual_file(), env!("WEIR_COMMIT"))?;
    Ok(crew.prepare(plan, wanted, invocation.allow_replica, stop, on_progress)?)
}

/// A line for the moment when the start is agreed, which lies ahead.
fn ready_line(plan: &LoadPlan, asked: Instant, measured_from: Instant) -> String {
    let now = Instant::now();
    let begins = measured_from.saturating_duration_since(now);
    format!(
        "{} agents are ready with {} connections after {:.1} s; the load begins in {:.2} s",
        plan.load.agents,
        plan.load.connections,
        now.saturating_duration_since(asked).as_secs_f64(),
        begins
            .saturating_sub(plan.load.warmup.least().0)
            .as_secs_f64(),
    )
}

fn line(share: &LoadHost, measured_s: f64) -> String {
    let warning = if share.clock_error_us > CLOCK_ERROR_US_MAX {
        "; its seconds may be off by more than 1 ms"
    } else {
        ""
    };
    format!(
        "agent {} on {}: {} connections, {} transactions, {:.2} of {} cores, silent for at most {:.2} s, start within {:.0} us (clock) + {:.0} us{warning}",
        share.name,
        share.host,
        share.connections,
        share.transactions,
        share.cpu_s / measured_s.max(f64::MIN_POSITIVE),
        share.cores,
        share.longest_silence_s,
        share.clock_error_us,
        share.began_late_us,
    )
}
