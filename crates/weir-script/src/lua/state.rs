//! One interpreter with a script in it.

#![allow(unsafe_code)] // states with FFI can only be made so

mod coroutine;
mod functions;
pub(crate) mod modules;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

pub use coroutine::{CoroutineStep, Events, MovableState};
use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Table, Value};

use crate::lua::host::Host;
use crate::lua::ignored_errors::Errors;
use crate::lua::options::{OptionKind, OptionValue, ScriptOption, option_list};
use crate::lua::state_data::{Core, enter};
use crate::lua::wait::Waits;
use crate::lua::{
    ScriptError, c_database, c_functions, c_histogram, c_statement, crash, output, prelude,
};

/// Identity of a state, for its script.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// Number of the thread, from 0.
    pub thread: u32,
    /// `sysbench.version`.
    pub version: String,
    /// The words as typed, the program's name first.
    pub argv: Vec<String>,
    /// The command, if there is one.
    pub command: Option<String>,
    /// The script as it was named.
    pub script_path: String,
    /// Statements are never prepared (`--db-ps-mode=disable`).
    pub sends_text: bool,
    /// Errors that restart an event.
    pub errors: Errors,
    /// As the option `-j` of `LuaJIT`'s own program, before anything of the script: `on`, `off`, a module.
    pub luajit_command: Option<String>,
    /// True if its events are a coroutine of an engine's.
    pub is_coroutine: bool,
    /// True if the host gets the lines that wait.
    pub is_profiled: bool,
    /// All modules and files that it may load, by name; `None`: those that are found.
    pub modules: Option<Arc<BTreeMap<String, String>>>,
}

/// Way in which a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// Once, in the global state.
    Single,
    /// In every thread, each with its own state.
    Parallel,
}

/// An interpreter; it stays on the thread that made it.
#[derive(Debug)]
pub struct State {
    /// Dropped first: its functions and finalisers use what follows.
    lua: Lua,
    waits: Rc<Waits>,
    core: Rc<Core>,
}

impl State {
    /// A state with all libraries and the table `sysbench`.
    ///
    /// # Errors
    ///
    /// An interpreter that has no memory.
    pub fn new(identity: &Identity, host: Box<dyn Host>) -> Result<Self, ScriptError> {
        c_functions::keep();
        c_database::keep();
        c_statement::keep();
        c_histogram::keep();
        output::by_lines();
        crash::tell_crashes();
        // SAFETY: a script with FFI is trusted as a program is; the documentation says so.
        // The first handle collects all garbage when it is dropped: now, when there is none, not at the end beside `Drop`
        // below. Thousands of states end at once.
        let lua = unsafe { Lua::unsafe_new() }.clone();
        let core = Rc::new(Core::new(
            host,
            identity.errors.clone(),
            identity.sends_text,
        ));
        note_running(&lua, &core)?;
        let waits = Waits::new(&core, identity.is_coroutine);
        let functions = functions::table(&lua, &core, &waits, identity)?;
        lua.set_named_registry_value(coroutine::CORE, &functions)?;
        prelude::run(&lua, &functions)?;
        if let Some(command) = &identity.luajit_command {
            luajit(&lua, command)?;
        }
        Ok(Self { lua, waits, core })
    }

    /// The text of a module, as a script would find it: a file of the usual places, or one of Weir's own.
    pub fn module_text(name: &str) -> Option<Vec<u8>> {
        modules::text(name)
    }

    /// Runs the script's body.
    ///
    /// # Errors
    ///
    /// Text that is no Lua, or an error that the body raises.
    pub fn run_body(&self, text: &[u8], path: &str) -> Result<(), ScriptError> {
        let chunk = self.lua.load(body(text)).set_name(format!("@{path}"));
        let body = chunk
            .into_function()
            .map_err(|error| ScriptError::Body(first_words(&error)))?;
        self.protected(body, ())
            .map(drop)
            .map_err(ScriptError::Body)
    }

    /// The options that the script declares.
    ///
    /// # Errors
    ///
    /// A table of another shape.
    pub fn options(&self) -> Result<Vec<ScriptOption>, ScriptError> {
        const READ: &str = "sysbench.cmdline.read_cmdline_options";
        let cmdline: Table = self.sysbench()?.get("cmdline")?;
        let read = cmdline.get("read_cmdline_options")?;
        let found = self.protected(read, ()).map_err(|why| failed(READ, why))?;
        let Some(Value::Table(found)) = found.front() else {
            return Ok(Vec::new());
        };
        let declared: Vec<_> = found
            .sequence_values::<Table>()
            .map(|option| declared(&option?))
            .collect::<Result<_, ScriptError>>()?;
        c_histogram::set_options(option_list(&declared));
        Ok(declared)
    }

    /// Fills `sysbench.opt`; `-` in names becomes `_`.
    ///
    /// # Errors
    ///
    /// An interpreter that has no memory.
    pub fn set_options(
        &self,
        options: impl IntoIterator<Item = (String, OptionValue)>,
    ) -> Result<(), ScriptError> {
        let table = self.lua.create_table()?;
        for (name, value) in options {
            let name = name.replace('-', "_");
            match value {
                OptionValue::Nil => table.set(name, Value::Nil)?,
                OptionValue::Bool(value) => table.set(name, value)?,
                OptionValue::Number(value) => table.set(name, value)?,
                OptionValue::Text(value) => table.set(name, value)?,
                OptionValue::List(values) => table.set(name, values)?,
            }
        }
        Ok(self.sysbench()?.set("opt", table)?)
    }

    /// Makes options globals, unless a function has the name: as sysbench 1.0.20 does for scripts that declare
    /// none.
    ///
    /// # Errors
    ///
    /// An interpreter that has no memory.
    pub fn set_option_globals(&self) -> Result<(), ScriptError> {
        let options: Table = self.sysbench()?.get("opt")?;
        let globals = self.lua.globals();
        for pair in options.pairs::<String, Value>() {
            let (name, value) = pair?;
            if !self.has_function(&name) {
                globals.set(name, value)?;
            }
        }
        Ok(())
    }

    /// Returns true if the script has a global function of this name.
    pub fn has_function(&self, name: &str) -> bool {
        self.lua.globals().get::<Function>(name).is_ok()
    }

    /// Returns the way in which the script's own command of this name runs, if there is one.
    pub fn command(&self, name: &str) -> Option<CommandKind> {
        let cmdline: Table = self.sysbench().ok()?.get("cmdline").ok()?;
        let command: Table = cmdline.get::<Table>("commands").ok()?.get(name).ok()?;
        let is_parallel = command.get::<Option<bool>>(2).ok()?.unwrap_or(false);
        Some(if is_parallel {
            CommandKind::Parallel
        } else {
            CommandKind::Single
        })
    }

    /// Runs a command; `false` if it did not succeed.
    ///
    /// # Errors
    ///
    /// What the command raises.
    pub fn call_command(&self, name: &str) -> Result<bool, ScriptError> {
        const CALL: &str = "sysbench.cmdline.call_command";
        let cmdline: Table = self.sysbench()?.get("cmdline")?;
        let call = cmdline.get("call_command")?;
        let returned = self
            .protected(call, name)
            .map_err(|why| failed(CALL, why))?;
        Ok(!matches!(returned.front(), Some(Value::Boolean(false))))
    }

    /// Calls a global function with these arguments.
    ///
    /// # Errors
    ///
    /// What the function raises.
    pub fn call(&self, name: &str, arguments: impl IntoLuaMulti) -> Result<(), ScriptError> {
        let function = self.lua.globals().get::<Function>(name)?;
        let called = self.protected(function, arguments);
        called.map(drop).map_err(|why| failed(name, why))
    }

    /// Calls the thread's loop of events: `thread_run`.
    ///
    /// # Errors
    ///
    /// What an event raises.
    pub fn run_events(&self, thread: u32) -> Result<(), ScriptError> {
        const LOOP: &str = "thread_run";
        let core: Table = self.lua.named_registry_value(coroutine::CORE)?;
        // In a profile, the loop is watched.
        let Ok(function) = core.get::<Function>("run_events") else {
            return self.call(LOOP, thread);
        };
        let ran = self.protected(function, thread);
        ran.map(drop).map_err(|why| failed(LOOP, why))
    }

    /// Returns true if the script has a hook of this name.
    pub fn has_hook(&self, name: &str) -> bool {
        self.hook(name).is_ok()
    }

    fn hook(&self, name: &str) -> Result<Function, ScriptError> {
        let hooks: Table = self.sysbench()?.get("hooks")?;
        Ok(hooks.get(name)?)
    }

    /// Calls a hook with a table of numbers.
    ///
    /// # Errors
    ///
    /// What the hook raises.
    pub fn call_hook(&self, name: &str, numbers: &[(&str, f64)]) -> Result<(), ScriptError> {
        let table = self.lua.create_table()?;
        for (field, number) in numbers {
            table.set(*field, *number)?;
        }
        let called = self.protected(self.hook(name)?, table);
        let function = format!("sysbench.hooks.{name}");
        called.map(drop).map_err(|why| failed(&function, why))
    }

    fn sysbench(&self) -> Result<Table, ScriptError> {
        Ok(self.lua.globals().get("sysbench")?)
    }

    /// Calls within Lua's own `pcall`, so that what is raised comes without a traceback.
    fn protected(
        &self,
        function: Function,
        arguments: impl IntoLuaMulti,
    ) -> Result<MultiValue, String> {
        let _entered = enter(&self.core);
        let words = |error: mlua::Error| first_words(&error);
        let pcall: Function = self
            .lua
            .named_registry_value(functions::PCALL)
            .map_err(words)?;
        let mut all = arguments.into_lua_multi(&self.lua).map_err(words)?;
        all.push_front(Value::Function(function));
        let mut returned: MultiValue = pcall.call(all).map_err(words)?;
        if returned.pop_front() == Some(Value::Boolean(true)) {
            return Ok(returned);
        }
        Err(match returned.front() {
            Some(Value::String(why)) => why.to_string_lossy().clone(),
            Some(Value::Error(error)) => first_words(error),
            _ => "(not a string)".to_owned(),
        })
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // Finalisers of the script may call the C surface.
        let _entered = enter(&self.core);
        // A finaliser that fails has no caller to tell.
        let _ = self.lua.gc_collect();
        let connections: Vec<_> = self.core.connections.borrow().keys().copied().collect();
        for connection in connections {
            self.core.host.borrow_mut().disconnect(connection);
        }
    }
}

/// Notes which coroutine of the interpreter runs, for the signal handlers that say where a script is.
fn note_running(lua: &Lua, core: &Core) -> mlua::Result<()> {
    // SAFETY: the state is only noted.
    unsafe { lua.exec_raw((), |state| core.running.set(state)) }
}

/// Version of the interpreter, such as `2.1.1741730670`.
pub fn luajit_version() -> String {
    let version = Lua::new().load("return jit.version").eval::<String>();
    let version = version.unwrap_or_default();
    version.trim_start_matches("LuaJIT ").to_owned()
}

/// The text without the line that names the interpreter, whose end stays, so that numbers of lines are right.
pub(crate) fn body(text: &[u8]) -> &[u8] {
    if text.first() != Some(&b'#') {
        return text;
    }
    let end = text.iter().position(|byte| *byte == b'\n');
    &text[end.unwrap_or(text.len())..]
}

/// Does what `luajit -j` does with these words.
fn luajit(lua: &Lua, command: &str) -> Result<(), ScriptError> {
    let text = r#"
        local name, rest = (...):match("^([^=]*)=?(.*)$")
        if type(jit[name]) == "function" and rest == "" then return jit[name]() end
        local words = {}
        for word in rest:gmatch("[^,]+") do words[#words + 1] = word end
        require("jit." .. name).start(unpack(words))"#;
    let set = lua.load(text).set_name("luajit-cmd").into_function()?;
    set.call::<()>(command).map_err(|error| {
        ScriptError::Option(format!("--luajit-cmd={command}: {}", first_words(&error)))
    })
}

fn failed(function: &str, why: String) -> ScriptError {
    ScriptError::Function {
        function: function.to_owned(),
        why,
    }
}

/// An error without its traceback and without words of the binding.
pub(crate) fn first_words(error: &mlua::Error) -> String {
    match error {
        mlua::Error::SyntaxError { message, .. } | mlua::Error::RuntimeError(message) => {
            let end = message.find("\nstack traceback:").unwrap_or(message.len());
            message[..end].to_owned()
        }
        mlua::Error::CallbackError { cause, .. } => first_words(cause),
        other => other.to_string(),
    }
}

fn declared(option: &Table) -> Result<ScriptOption, ScriptError> {
    let (name, number): (String, i64) = (option.get(1)?, option.get(3)?);
    let kind = OptionKind::from_number(number).ok_or_else(|| {
        ScriptError::Option(format!("option {name} has a type that is none: {number}"))
    })?;
    Ok(ScriptOption {
        name,
        description: option.get(2)?,
        default: option.get(4)?,
        kind,
    })
}
