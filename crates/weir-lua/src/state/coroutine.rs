//! The events of a thread as a coroutine, for an engine that drives many.

use mlua::{Function, IntoLuaMulti as _, MultiValue, Table, Thread, Value};

use super::{State, first_words};
use crate::ScriptError;
use crate::core::enter;
use crate::host::{Failure, Reply};
use crate::wait::{self, Begun, Pending};

/// Where the registry keeps what the prelude was given.
pub(super) const CORE: &str = "weir.core";

/// What a coroutine has come to.
#[derive(Debug)]
pub enum Turned {
    /// It waits for a reply.
    Asks(Pending),
    /// It waits for so many seconds.
    Sleeps(f64),
    /// An event is complete; `ends_loop`: it was the last, and counts for nothing.
    Event {
        /// `event` returned something.
        ends_loop: bool,
    },
    /// The thread has said its last words.
    Ended,
    /// An error of the script's.
    Failed(ScriptError),
}

/// A thread's events, or its last words, in a coroutine.
#[derive(Debug)]
pub struct Events {
    coroutine: Thread,
    /// What its first call is given.
    first: Option<u32>,
    function: &'static str,
}

impl State {
    /// The thread's events.
    ///
    /// # Errors
    ///
    /// A state that was made for a thread of its own.
    pub fn events(&self, thread: u32) -> Result<Events, ScriptError> {
        self.coroutine("events", "thread_run", thread)
    }

    /// The thread's last words: its function `thread_done`.
    ///
    /// # Errors
    ///
    /// As [`Self::events`].
    pub fn last_words(&self, thread: u32) -> Result<Events, ScriptError> {
        self.coroutine("last_words", "thread_done", thread)
    }

    fn coroutine(
        &self,
        name: &str,
        function: &'static str,
        thread: u32,
    ) -> Result<Events, ScriptError> {
        let core: Table = self.lua.named_registry_value(CORE)?;
        let body: Function = core.get(name)?;
        Ok(Events {
            coroutine: self.lua.create_thread(body)?,
            first: Some(thread),
            function,
        })
    }

    /// Whether the script has a loop of its own in the place of the engine's.
    pub fn has_own_loop(&self) -> bool {
        self.asks_core("has_own_loop")
    }

    /// Whether the script has loaded modules that are not Lua: what these wait for cannot be seen.
    pub fn has_c_modules(&self) -> bool {
        self.asks_core("has_c_modules")
    }

    fn asks_core(&self, name: &str) -> bool {
        let core = self.lua.named_registry_value::<Table>(CORE);
        let asked = core.and_then(|core| core.get::<Function>(name)?.call(()));
        asked.unwrap_or(true)
    }

    /// Numbers of the connections that are open.
    pub fn open_connections(&self) -> Vec<u32> {
        let connections = self.core.connections.borrow();
        let open = connections.iter().filter(|(_, c)| c.is_open);
        open.map(|(number, _)| *number).collect()
    }

    /// Switches the compiler of this state off.
    ///
    /// # Errors
    ///
    /// A script that has taken `jit` away.
    pub fn stop_compiling(&self) -> Result<(), ScriptError> {
        let jit: Table = self.lua.globals().get("jit")?;
        Ok(jit.get::<Function>("off")?.call(())?)
    }

    /// Collects all garbage: what a script leaves before its events should not be collected among them.
    ///
    /// # Errors
    ///
    /// What a finaliser raises.
    pub fn collect(&self) -> Result<(), ScriptError> {
        let _entered = enter(&self.core);
        Ok(self.lua.gc_collect()?)
    }

    /// Goes on: from the beginning of an event, or from a sleep.
    pub fn go_on(&self, events: &mut Events) -> Turned {
        let first = events.first.take();
        match first.into_lua_multi(&self.lua) {
            Ok(values) => self.run(events, values),
            Err(error) => Turned::Failed(error.into()),
        }
    }

    /// Goes on with the reply that was waited for.
    pub fn replied(
        &self,
        events: &mut Events,
        pending: Pending,
        reply: Result<Reply, Failure>,
    ) -> Turned {
        let _entered = enter(&self.core);
        match wait::finish(&self.lua, &self.core, pending, reply) {
            Ok(values) => self.run(events, values),
            Err(error) => Turned::Failed(error.into()),
        }
    }

    fn run(&self, events: &mut Events, values: MultiValue) -> Turned {
        let _entered = enter(&self.core);
        let mut values = values;
        loop {
            let resumed = events.coroutine.resume::<MultiValue>(values);
            let mut yielded = match resumed {
                Ok(yielded) => yielded,
                Err(error) => {
                    return Turned::Failed(ScriptError::Function {
                        function: events.function.to_owned(),
                        why: first_words(&error),
                    });
                }
            };
            // The engine's mark.
            yielded.pop_front();
            if let Some(Value::String(word)) = yielded.front() {
                let word = word.as_bytes().to_vec();
                return Self::word(events, &word, yielded.get(1));
            }
            let next = match wait::begin(&self.lua, &self.core, yielded) {
                Ok(Begun::Done(values)) => Ok(values),
                Ok(Begun::Asks(pending)) => return Turned::Asks(pending),
                Err(error) => Err(error),
            };
            match next {
                Ok(next) => values = next,
                Err(error) => return Turned::Failed(error.into()),
            }
        }
    }

    fn word(events: &Events, word: &[u8], value: Option<&Value>) -> Turned {
        let text = || match value {
            Some(Value::String(text)) => text.to_string_lossy(),
            _ => String::new(),
        };
        match word {
            b"sleep" => Turned::Sleeps(match value {
                Some(Value::Number(seconds)) => *seconds,
                Some(Value::Integer(seconds)) => *seconds as f64,
                _ => 0.0,
            }),
            b"done" => Turned::Event {
                ends_loop: value == Some(&Value::Boolean(true)),
            },
            b"ended" => Turned::Ended,
            _ => Turned::Failed(ScriptError::Function {
                function: events.function.to_owned(),
                why: text(),
            }),
        }
    }
}

/// A state that is handed from thread to thread, one after the other.
#[derive(Debug)]
pub struct Moved<T>(T);

#[allow(unsafe_code)]
// SAFETY: a state and what hangs on it have no ties to the thread that made them: LuaJIT's states have none,
// and all reference counts into them lie in `T` itself, which moves as a whole.
unsafe impl<T> Send for Moved<T> {}

impl<T> Moved<T> {
    /// What is to be handed on; all that shares memory with it without locks has to be in it.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// What was handed on.
    pub fn get(&mut self) -> &mut T {
        &mut self.0
    }

    /// The same, for good.
    pub fn into_inner(self) -> T {
        self.0
    }
}
