//! Our own Lua, which runs in each state before the script. Its chunks' names show in messages.

use std::sync::OnceLock;

use mlua::{Lua, Table};

/// Name and text of each chunk, in the order in which they run.
const CHUNKS: [(&str, &str); 7] = [
    ("sysbench.lua", include_str!("prelude/sysbench.lua")),
    (
        "sysbench.coroutine.lua",
        include_str!("prelude/sysbench.coroutine.lua"),
    ),
    (
        "sysbench.profile.lua",
        include_str!("prelude/sysbench.profile.lua"),
    ),
    (
        "sysbench.cmdline.lua",
        include_str!("prelude/sysbench.cmdline.lua"),
    ),
    ("sysbench.sql.lua", include_str!("prelude/sysbench.sql.lua")),
    (
        "sysbench.report.lua",
        include_str!("prelude/sysbench.report.lua"),
    ),
    ("sysbench.old.lua", include_str!("prelude/sysbench.old.lua")),
];

/// Runs all chunks in a state. The first one compiles them for all others: a run has thousands of states.
pub(crate) fn run(lua: &Lua, functions: &Table) -> mlua::Result<()> {
    static COMPILED: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    if let Some(compiled) = COMPILED.get() {
        for ((name, _), code) in CHUNKS.iter().zip(compiled) {
            let chunk = lua.load(code.as_slice()).set_name(*name);
            chunk.call::<()>(functions)?;
        }
        return Ok(());
    }
    let mut compiled = Vec::new();
    for (name, text) in CHUNKS {
        let chunk = lua.load(text).set_name(name).into_function()?;
        compiled.push(chunk.dump(false));
        chunk.call::<()>(functions)?;
    }
    // Another thread may have been as early.
    let _ = COMPILED.set(compiled);
    Ok(())
}
