//! The functions that the prelude is given: everything that Lua does not do by itself.

#![allow(unsafe_code)] // functions of C

use std::rc::Rc;
use std::time::Duration;

use mlua::{Function, Lua, LuaString, Table};

use super::{Identity, modules};
use crate::lua::c_functions::{random_string, variable_string};
use crate::lua::host::Level;
use crate::lua::options::option_list;
use crate::lua::state_data::Core;
use crate::lua::statement::ParameterKind;
use crate::lua::wait::{self, Waits};

/// Under which the registry keeps Lua's own `pcall`: a script may replace the global one.
pub(super) const PCALL: &str = "weir.pcall";

/// A table of them.
pub(super) fn table(
    lua: &Lua,
    core: &Rc<Core>,
    waits: &Rc<Waits>,
    identity: &Identity,
) -> mlua::Result<Table> {
    let pcall: Function = lua.globals().get("pcall")?;
    lua.set_named_registry_value(PCALL, pcall)?;
    let table = lua.create_table()?;
    describe(lua, &table, identity)?;
    waiting(lua, &table, waits)?;
    results(lua, &table, core)?;
    others(lua, &table, core)?;
    modules(lua, &table, identity)?;
    if identity.is_profiled {
        clock(lua, &table, core)?;
    }
    Ok(table)
}

fn describe(lua: &Lua, table: &Table, identity: &Identity) -> mlua::Result<()> {
    table.set("tid", identity.thread)?;
    table.set("version", identity.version.as_str())?;
    table.set("driver", "mysql")?;
    table.set("yields", identity.is_coroutine)?;
    table.set("profiles", identity.is_profiled)?;
    table.set("command", identity.command.as_deref())?;
    table.set("script_path", identity.script_path.as_str())?;
    let argv = lua.create_table()?;
    for (index, word) in identity.argv.iter().enumerate() {
        argv.set(index, word.as_str())?;
    }
    table.set("argv", argv)
}

fn modules(lua: &Lua, table: &Table, identity: &Identity) -> mlua::Result<()> {
    let (path, cpath) = modules::paths(&identity.script_path);
    table.set("package_cpath", cpath)?;
    if let Some(kept) = identity.modules.clone() {
        table.set("package_path", "")?;
        let kept = lua.create_function(move |_, name: String| Ok(kept.get(&name).cloned()))?;
        table.set("module", &kept)?;
        table.set("kept", kept)?;
    } else {
        table.set("package_path", path)?;
        let own = lua.create_function(|_, name: String| Ok(modules::own(&name)))?;
        table.set("module", own)?;
    }
    let list = lua.create_function(|_, found: Vec<Table>| {
        let options: Result<Vec<_>, _> = found.iter().map(super::declared).collect();
        options
            .map(|options| option_list(&options))
            .map_err(mlua::Error::external)
    })?;
    table.set("option_list", list)
}

fn waiting(lua: &Lua, table: &Table, waits: &Rc<Waits>) -> mlua::Result<()> {
    let numbers = lua.create_table()?;
    for (number, name) in wait::names().enumerate() {
        numbers.set(name, number)?;
    }
    table.set("operation", numbers)?;
    // SAFETY: the state drops its interpreter before them.
    unsafe { waits.give(lua, table) }
}

/// Adds the functions that a profile needs.
fn clock(lua: &Lua, table: &Table, core: &Rc<Core>) -> mlua::Result<()> {
    let shared = Rc::clone(core);
    let clock = lua.create_function(move |_, ()| Ok(shared.host.borrow_mut().clock_s()))?;
    table.set("clock", clock)?;
    let shared = Rc::clone(core);
    let waited = lua.create_function(move |_, (place, call, seconds): (String, String, f64)| {
        let mut host = shared.host.borrow_mut();
        host.waited(&place, &call, seconds);
        Ok(())
    })?;
    table.set("waited", waited)
}

fn results(lua: &Lua, table: &Table, core: &Rc<Core>) -> mlua::Result<()> {
    let shared = Rc::clone(core);
    let free = lua.create_function(move |_, (connection, number): (u32, u32)| {
        let mut connections = shared.connections.borrow_mut();
        if let Some(connection) = connections.get_mut(&connection) {
            let is_it = |open: &crate::lua::state_data::Open| open.number == number;
            if connection.result.as_ref().is_some_and(is_it) {
                connection.result = None;
            }
        }
        Ok(())
    })?;
    table.set("free", free)?;
    let shared = Rc::clone(core);
    let has_more = lua.create_function(move |_, connection: u32| {
        let connections = shared.connections.borrow();
        Ok(connections
            .get(&connection)
            .is_some_and(|connection| connection.has_more))
    })?;
    table.set("has_more", has_more)
}

fn others(lua: &Lua, table: &Table, core: &Rc<Core>) -> mlua::Result<()> {
    let shared = Rc::clone(core);
    let bulk = lua.create_function(move |_, (connection, head): (u32, LuaString)| {
        Ok(wait::begin_bulk(&shared, connection, &head.as_bytes()))
    })?;
    table.set("begin_bulk", bulk)?;
    let shared = Rc::clone(core);
    let bind = lua.create_function(
        move |_, (connection, statement, kinds): (u32, u32, Vec<String>)| {
            let mut connections = shared.connections.borrow_mut();
            let connection = connections.get_mut(&connection);
            let statements = connection.map(|connection| &mut connection.statements);
            if let Some(prepared) = statements.and_then(|all| all.get_mut(&statement)) {
                prepared.kinds = kinds.iter().map(|kind| kind_of(kind)).collect();
            }
            Ok(())
        },
    )?;
    table.set("bind", bind)?;
    let shared = Rc::clone(core);
    let log = lua.create_function(move |_, (level, line): (String, String)| {
        let level = if level == "fatal" {
            Level::Fatal
        } else {
            Level::Alert
        };
        shared.host.borrow_mut().log(level, &line);
        Ok(())
    })?;
    table.set("log", log)?;
    let shared = Rc::clone(core);
    let uses_sql = lua.create_function(move |_, ()| {
        shared.host.borrow_mut().uses_sql();
        Ok(())
    })?;
    table.set("uses_sql", uses_sql)?;
    let shared = Rc::clone(core);
    let running = lua.create_function(move |lua, ()| super::note_running(lua, &shared))?;
    table.set("note_running", running)?;
    let sleep = lua.create_function(|_, seconds: f64| {
        std::thread::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
        Ok(())
    })?;
    table.set("sleep", sleep)?;
    let shared = Rc::clone(core);
    let string = lua.create_function(move |lua, template: LuaString| {
        let mut host = shared.host.borrow_mut();
        lua.create_string(random_string(host.as_mut(), &template.as_bytes()))
    })?;
    table.set("random_string", string)?;
    let shared = Rc::clone(core);
    let variable = lua.create_function(move |lua, (min, max): (u32, u32)| {
        let mut host = shared.host.borrow_mut();
        lua.create_string(variable_string(host.as_mut(), min, max))
    })?;
    table.set("variable_string", variable)
}

fn kind_of(name: &str) -> ParameterKind {
    match name {
        "integer" => ParameterKind::Integer,
        "real" => ParameterKind::Real,
        _ => ParameterKind::Text,
    }
}
