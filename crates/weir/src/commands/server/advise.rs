//! `weir server doublewrite advise`: a short study of both settings with the server's own program and
//! variables, where its data are. The server itself is not touched.

use std::path::Path;

use anyhow::bail;
use weir_model::variables::DOUBLEWRITE;
use weir_model::{ServerUrl, option_variable};
use weir_mysql::ClientConfig;
use weir_run::{RunOptions, UserPermissions};
use weir_server::{Instance, Instances, ServerBinary};
use weir_study::{Overrides, StudyFile};

use crate::cli::AdviseArguments;
use crate::commands::run;
use crate::commands::study_file::clock_seed;
use crate::{Outcome, interrupt, output};

/// Number of tables by which the data directory, the loaded tables and the pool are those of a
/// small server.
const TABLES: u32 = 4;

pub(super) fn execute(
    instances: &Instances,
    arguments: &AdviseArguments,
) -> anyhow::Result<Outcome> {
    if ServerUrl::is_meant(&arguments.name) {
        bail!(
            "cannot advise on `{}` (a server of yours is not restarted); make a private one with the same \
             settings: weir server up NAME --option-file FILE",
            arguments.name
        );
    }
    let info = instances.info(&arguments.name)?;
    let instance = &info.instance;
    let stop = interrupt::stop_flag()?;
    let text = study(instance, arguments);
    let file = StudyFile::parse("advise", &text)?;
    let flavor_of = |program: &Path| Ok(ServerBinary::at(program)?.flavor);
    let overrides = Overrides {
        seed: clock_seed(),
        ..Overrides::default()
    };
    let plan = weir_study::resolve("advise", &file, &overrides, &flavor_of)?;
    // Beside its data: the question is about their storage.
    let work = info.storage.join("advise");
    let options = RunOptions {
        out: work.join("result"),
        resume: false,
        work: Some(work.join("runs")),
        weir: std::env::current_exe()?,
        below_floor: false,
        allowed: UserPermissions::default(),
        client: ClientConfig::default(),
        provenance: weir_model::Provenance {
            study_file: text,
            weir_commit: env!("WEIR_COMMIT").to_owned(),
            command: std::env::args().collect(),
        },
    };
    let outcome = run::watched(&plan, &options, stop);
    let _ = std::fs::remove_dir_all(&work);
    let outcome = run::whole(outcome?)?;
    if outcome.stopped {
        return Ok(Outcome::Stopped);
    }
    if arguments.json {
        output::line(weir_report::json(&outcome.result)?)?;
    } else {
        output::text(weir_report::terminal(&outcome.result, output::is_colored()))?;
        output::line(format_args!(
            "\nfor a surer answer: more --runs (repeat.runs above) and --seconds (load.measure)\n\
             to switch: weir server doublewrite off {}; it asks for a proof that pages are not torn",
            instance.name
        ))?;
    }
    Ok(Outcome::Done)
}

fn study(instance: &Instance, arguments: &AdviseArguments) -> String {
    let (runs, rows, threads) = (arguments.runs, arguments.rows, arguments.threads);
    let warmup = arguments.seconds.div_ceil(2);
    let program = toml::Value::from(instance.program.display().to_string());
    let variables = instance.variables.iter();
    let others: toml::Table = variables
        .filter(|(name, _)| option_variable(name) != DOUBLEWRITE)
        .map(|(name, value)| (name.clone(), value.clone().into()))
        .collect();
    format!(
        "[study]\n\
         title = \"Doublewrite on this storage\"\n\
         question = \"What does innodb_doublewrite = OFF gain here?\"\n\
         [server]\n\
         flavor = {program}\n\
         [server.config]\n\
         {others}\n\
         [data]\n\
         workload = \"oltp_write_only\"\n\
         tables = {TABLES}\n\
         rows = {rows}\n\
         [load]\n\
         threads = {threads}\n\
         warmup = \"{warmup}s\"\n\
         measure = \"{}s\"\n\
         [factors]\n\
         {DOUBLEWRITE} = [\"ON\", \"OFF\"]\n\
         [repeat]\n\
         runs = {runs}\n",
        arguments.seconds
    )
}
