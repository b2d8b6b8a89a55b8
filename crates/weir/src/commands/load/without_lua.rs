//! The place of scripts, and of the name sysbench, in a program that was built without Lua.

use anyhow::bail;
use weir_script::NoLua;

use crate::Outcome;

pub(super) mod script {
    use std::sync::atomic::AtomicBool;

    use weir_sysbench::ScriptLine;

    use super::{Outcome, refuse};

    /// Way in which a script's command prints.
    #[derive(Debug, Default)]
    pub(in crate::commands::load) struct Manner(());

    pub(in crate::commands::load) fn serve() -> anyhow::Result<Outcome> {
        refuse()
    }

    pub(in crate::commands::load) fn execute(
        _line: ScriptLine,
        _words: &[String],
        _manner: Manner,
        _stop: &'static AtomicBool,
    ) -> anyhow::Result<Outcome> {
        refuse()
    }
}

pub(super) mod drop_in {
    use weir_mysql::ClientConfig;

    use super::{Outcome, refuse};
    use crate::cli::LoadArguments;

    pub(in crate::commands::load) fn execute(
        _arguments: &LoadArguments,
        _config: &ClientConfig,
    ) -> anyhow::Result<Outcome> {
        refuse()
    }
}

fn refuse() -> anyhow::Result<Outcome> {
    bail!("load: {NoLua}")
}
