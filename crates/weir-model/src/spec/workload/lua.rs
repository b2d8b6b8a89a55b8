//! A Lua script of the user's, as people write them for sysbench.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Distribution;

/// A Lua script with all that it loads, by content; a run loads nothing else (docs/lua.md).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LuaWorkload {
    /// Path from which it was read.
    pub path: PathBuf,
    /// Text of the script.
    pub text: Arc<str>,
    /// The modules and files that it loads, and those that these load.
    pub modules: Vec<LuaModule>,
    /// Options of its `prepare`, and of its run.
    pub data_options: BTreeMap<String, String>,
    /// Options of its run alone; they win.
    pub options: BTreeMap<String, String>,
    /// The distribution of `sysbench.rand.default`.
    pub distribution: Distribution,
}

/// A module that a script loads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LuaModule {
    /// As the script names it: `oltp_common`, `lib/common.lua`.
    pub name: String,
    /// Text of the module.
    pub text: Arc<str>,
}

impl From<(String, String)> for LuaModule {
    fn from((name, text): (String, String)) -> Self {
        Self {
            name,
            text: text.into(),
        }
    }
}

impl LuaWorkload {
    /// The script with its modules as one text: what tells it from others.
    pub fn whole_text(&self) -> String {
        let mut parts = vec![&*self.text];
        for module in &self.modules {
            parts.extend([&*module.name, &*module.text]);
        }
        parts.join("\n")
    }

    /// The options of its run.
    pub fn run_options(&self) -> BTreeMap<String, String> {
        let mut options = self.data_options.clone();
        options.extend(self.options.clone());
        options
    }
}
