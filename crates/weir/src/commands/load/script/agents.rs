//! `weir load my.lua --agents=N run`: each agent runs a share of the script's threads.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use weir_load::Workload;
use weir_model::{LuaModule, LuaWorkload, WorkloadSpec};
use weir_mysql::Gate;
use weir_script::ScriptFiles;
use weir_sysbench::{LuaThreads, ScriptLine};

use super::Manner;
use crate::Outcome;
use crate::commands::load;

/// Runs the script's events from agents. Their reports are those of a native workload.
pub(super) fn run(line: ScriptLine, manner: Manner, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    if line.lua_threads != LuaThreads::Auto || line.luajit_command.is_some() {
        bail!("--lua-threads, --luajit-cmd: agents choose how they run a script; leave them out");
    }
    let lua = by_content(&line)?;
    let mut invocation = line.invocation;
    let workload = Workload::try_from(&WorkloadSpec::Lua(lua)).map_err(anyhow::Error::msg)?;
    invocation.plan.workload = workload;
    let words = load::Words {
        header: if manner.has_header {
            String::new()
        } else {
            let luajit = weir_script::lua::luajit_version();
            weir_sysbench::script_version(invocation.compat, &luajit)
                + &weir_sysbench::options_header(&invocation)
        },
        tells_all: !manner.is_drop_in,
    };
    // Nothing is sent from here.
    let gate = Gate::reading();
    load::run(&invocation, &gate, stop, &words).map_err(|failed| failed.error)?;
    Ok(if stop.load(Ordering::SeqCst) {
        Outcome::Stopped
    } else {
        Outcome::Done
    })
}

/// The script with all that it loads: agents have no files of this host.
fn by_content(line: &ScriptLine) -> anyhow::Result<LuaWorkload> {
    let path = Path::new(&line.script);
    if !path.is_file() {
        bail!(
            "{}: agents get a script by content; name its file",
            line.script
        );
    }
    let files = ScriptFiles::read(path, &[])?;
    let mut workload = LuaWorkload {
        path: path.to_owned(),
        text: files.text.into(),
        modules: files.modules.into_iter().map(LuaModule::from).collect(),
        distribution: line.keys.1.distribution(line.keys.0),
        ..LuaWorkload::default()
    };
    for (name, value) in &line.unknown {
        let Some(value) = value else {
            bail!("--{name}: a script's option needs a value for agents, such as --{name}=on");
        };
        workload.options.insert(name.clone(), value.clone());
    }
    Ok(workload)
}
