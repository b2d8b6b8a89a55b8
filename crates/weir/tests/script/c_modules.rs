//! Modules in C: found by `package.cpath` and by `LUA_CPATH`, and given Lua's own functions by the program.

use std::process::Command;

use weir_model::Flavor;

use crate::beside::Bench;

/// A module as people write them: it calls functions of Lua, which the program that loads it exports.
const SOURCE: &str = r#"
typedef struct lua_State lua_State;
typedef struct { const char *name; int (*call)(lua_State *); } luaL_Reg;
double luaL_checknumber(lua_State *, int);
int luaL_error(lua_State *, const char *, ...);
void lua_pushnumber(lua_State *, double);
void luaL_register(lua_State *, const char *, const luaL_Reg *);
static int twice(lua_State *state) {
  double number = luaL_checknumber(state, 1);
  if (number < 0) return luaL_error(state, "%d is negative", (int) number);
  lua_pushnumber(state, 2 * number);
  return 1;
}
static const luaL_Reg functions[] = { { "twice", twice }, { 0, 0 } };
int luaopen_doubler(lua_State *state) {
  luaL_register(state, "doubler", functions);
  return 1;
}
"#;

/// Builds the module into this folder of the bench; false where there is no compiler.
fn build(bench: &Bench, folder: &str) -> bool {
    bench.script("doubler.c", SOURCE);
    let place = bench.folder().join(folder);
    std::fs::create_dir_all(&place).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(place.join("doubler.so"))
        .arg(bench.folder().join("doubler.c"))
        .status();
    let Ok(status) = built else {
        weir_testing::skipped("modules in C", "install cc");
        return false;
    };
    assert!(status.success(), "{status}");
    true
}

#[test]
fn a_module_in_c_is_found_and_calls_lua() {
    let (server, _directory) = weir_testing::start(Flavor::Mariadb);
    let bench = Bench::on(&server.endpoint());
    if !build(&bench, ".") {
        return;
    }
    bench.script(
        "x.lua",
        "local doubler = require('doubler')
         function thread_init() con = sysbench.sql.driver():connect() end
         function event() con:query('SELECT ' .. doubler.twice(21)) assert(doubler.twice(2^40) == 2^41) end
         function prepare() doubler.twice(-7) end",
    );
    let run = bench.same("x.lua --threads=2 --events=3 run");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.counts()[3], 3, "{run:?}");
    // What such a module waits for is not the engine's to see.
    let run = bench.ours("x.lua --threads=2 --events=3 --lua-threads=reactor run");
    assert!(run.stderr.contains("because it loads C modules"), "{run:?}");
    let run = bench.same("x.lua prepare");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("x.lua:4: -7 is negative"), "{run:?}");
}

/// It takes the place of the usual folders; `;;` adds them.
#[test]
fn modules_in_c_are_searched_where_lua_cpath_says() {
    let mut bench = Bench::new();
    if !build(&bench, "own") {
        return;
    }
    bench.script("x.lua", "print(require('doubler').twice(21))");
    let missing = bench.ours("x.lua");
    assert_eq!(missing.code, Some(1), "{missing:?}");
    let line = "FATAL: x.lua:1: module 'doubler' not found:";
    assert!(missing.stdout.contains(line), "{missing:?}");
    for places in ["./own/?.so", ";;./own/?.so"] {
        bench.set("LUA_CPATH", places);
        let found = bench.same("x.lua");
        assert!(found.stdout.ends_with("42\n"), "{found:?}");
    }
    // The module is in the working folder, which is a usual place.
    std::fs::rename(
        bench.folder().join("own/doubler.so"),
        bench.folder().join("doubler.so"),
    )
    .unwrap();
    assert!(bench.same("x.lua").stdout.ends_with("42\n"));
    bench.set("LUA_CPATH", "./own/?.so");
    assert_eq!(bench.ours("x.lua").code, Some(1));
}
