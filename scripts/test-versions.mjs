// Tries each feature of Weir on each server below FOLDER/servers and on those that this machine has: a line for each
// feature, and with TABLE the page of what came of it.
//
//   node scripts/test-versions.mjs WEIR FOLDER [TABLE.md]
//
// A feature works or fails, with Weir's line. The exit status is 1 if something failed. What was tried is in
// FOLDER/VERSION.log.
import { spawn, spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [weir, folder, table] = process.argv.slice(2).map((path) => resolve(path));
if (folder === undefined) {
  console.error("usage: node scripts/test-versions.mjs WEIR FOLDER [TABLE.md]");
  process.exit(2);
}

/** A try of all features on one server, in a home of its own, so that nothing meets the user's servers. */
class World {
  constructor(program, version, newest) {
    this.program = program;
    this.newest = newest;
    this.log = join(folder, `${version}.log`);
    writeFileSync(this.log, "");
    // Sockets need short paths.
    this.home = mkdtempSync("/tmp/wv.");
    this.environment = {
      ...process.env,
      HOME: this.home,
      XDG_RUNTIME_DIR: this.home,
      XDG_STATE_HOME: join(this.home, "s"),
      XDG_CACHE_HOME: join(this.home, "c"),
      // Those on the way of an upgrade.
      WEIR_SERVERS: join(folder, "servers"),
    };
  }

  /** Runs Weir; what it printed. Its line is the error where it ends with a code that is not among `codes`. */
  weir(words, codes = [0], environment = {}) {
    const options = { env: { ...this.environment, ...environment }, encoding: "utf8", timeout: 900_000 };
    const ended = spawnSync(weir, words, options);
    appendFileSync(this.log, `$ weir ${words.join(" ")}\n${ended.stdout}${ended.stderr}(${ended.status ?? ended.signal})\n`);
    if (ended.error?.code === "ETIMEDOUT") {
      throw new Error(`no end within ${options.timeout / 1000} s`);
    }
    if (!codes.includes(ended.status)) {
      const line = /^weir: (.*)$/m.exec(ended.stderr)?.[1] ?? ended.stderr.trim().split("\n").at(-1);
      throw new Error(line === "" ? `ended with ${ended.status ?? ended.signal}` : line);
    }
    this.noted = ended.stderr;
    return ended.stdout;
  }

  client(name) {
    return join(this.home, "s/weir/instances", name, "client.cnf");
  }

  load(words, name = "v") {
    return this.weir(["load", `--defaults-file=${this.client(name)}`, ...words]);
  }

  /** Runs one statement on the server. */
  sql(statement) {
    const script = join(this.home, "sql.lua");
    writeFileSync(script, "function thread_init() con = sysbench.sql.driver():connect() end\nfunction event() con:query(os.getenv('STATEMENT')) end\n");
    const words = ["load", script, `--defaults-file=${this.client("v")}`, "--events=1", "--threads=1", "run"];
    this.weir(words, [0], { STATEMENT: statement });
  }

  /** Starts a private server; what it is. */
  up(words) {
    return JSON.parse(this.weir(["server", "up", ...words, "--json"]));
  }

  end() {
    this.weir(["clean"], [0, 1]);
    for (const name of ["c", "r", "v"]) {
      spawnSync(weir, ["server", "down", name, "--remove"], { env: this.environment });
    }
    rmSync(this.home, { recursive: true, force: true });
  }
}

const TABLES = ["--tables=2", "--table-size=2000"];
const LOGS = { slow_query_log: "ON", long_query_time: "0", general_log: "ON" };

/** What is tried, in order: each may use the server `v` and what came before. */
const FEATURES = {
  "server up": (world) => {
    const sets = ["log_bin=binlog", "server_id=7", "binlog_format=ROW", "slow_query_log_file=slow.log", "general_log_file=general.log"];
    world.server = world.up(["v", "--server", world.program, "--port", "0", ...sets.flatMap((set) => ["--set", set])]);
    writeFileSync(join(world.home, ".my.cnf"), readFileSync(world.client("v")), { mode: 0o600 });
  },
  load: (world) => {
    world.load(["oltp_read_write", ...TABLES, "--threads=4", "prepare"]);
    world.load(["oltp_read_write", ...TABLES, "--threads=4", "--time=2", "run"]);
  },
  snapshot: (world) => world.weir(["server", "snapshot", "take", "v", "--as", "kept"]),
  clone: (world) => {
    world.up(["c", "--server", world.program, "--snapshot", "kept"]);
    world.load(["oltp_point_select", ...TABLES, "--time=1", "run"], "c");
  },
  replica: (world) => {
    world.up(["r", "--replica-of", "v"]);
    world.weir(["server", "down", "r", "--remove"]);
  },
  study: (world) => study(world, "innodb_flush_log_at_trx_commit = [1, 2]"),
  settings: (world) => study(world, 'innodb_io_capacity = [200, 400]\ninnodb_buffer_pool_size = ["32M", "64M"]'),
  capture: async (world) => {
    const capture = join(world.home, "proxy.weircap");
    const port = await freePort();
    const words = ["capture", "proxy", "--listen", `127.0.0.1:${port}`, "--to", serverUrl(world, ""), "--output", capture, "--for", "6s"];
    const proxy = spawn(weir, words, { env: world.environment, stdio: "ignore" });
    const ended = new Promise((resolved) => proxy.on("exit", resolved));
    await sleep(1500);
    const through = ["--mysql-host=127.0.0.1", `--mysql-port=${port}`, "--mysql-socket=", ...TABLES];
    world.load(["oltp_read_write", ...through, "--threads=2", "--events=20", "--time=0", "run"]);
    if ((await ended) !== 0) {
      throw new Error("the proxy failed");
    }
    replay(world, capture);
  },
  "slow log": (world) => imported(world, "slow"),
  "general log": (world) => imported(world, "general"),
  upgrade: (world) => {
    if (world.newest === world.program) {
      return { state: "newest" };
    }
    const capture = join(world.home, "general.weircap");
    const out = join(world.home, "up");
    const words = ["upgrade", world.program, world.newest, "--capture", capture, "--data", "kept", "--warmup", "0s", "--runs", "3"];
    // 3: a rule forbids the comparison, as of too short runs, and the runs are complete.
    const told = world.weir([...words, "--out", out], [0, 3]);
    if (!told.includes("statements sent by")) {
      throw new Error("the report has no statements");
    }
    const notes = world.noted.matchAll(/^note: data: (.*)$/gm);
    return { remark: [...notes].map(([, remark]) => remark).join(", ") || undefined };
  },
  look: (world) => {
    const { report } = JSON.parse(world.weir(["look", serverUrl(world, ""), "--seconds", "3", "--json"]));
    if (report.checks.length === 0) {
      throw new Error("the look judged no setting");
    }
  },
  flashback: async (world) => {
    const read = () => world.weir(["flashback", serverUrl(world, "sbtest"), "--tables", "sbtest.sbtest1", "--as-of", world.moment, "--diff", "--server", world.program]);
    world.moment = clock(new Date());
    await sleep(2100);
    world.sql("UPDATE sbtest1 SET c = 'other' WHERE id = 7");
    if (!read().includes("other")) {
      throw new Error("the change is not in the difference");
    }
    const script = join(world.home, "undo.sql");
    world.weir(["flashback", serverUrl(world, "sbtest"), "--tables", "sbtest.sbtest1", "--as-of", world.moment, "--undo", script, "--server", world.program]);
  },
  "ddl advise": (world) => {
    const statement = "ALTER TABLE sbtest.sbtest1 ADD INDEX k_c (c)";
    world.weir(["ddl", "advise", statement, serverUrl(world, "sbtest"), "--server", world.program]);
  },
  "crash test": (world) => {
    const sizes = ["--states", "12", "--seconds", "2", "--rows", "2000", "--clients", "2", "--seed", "1"];
    world.weir(["crash-test", "run", "--server", world.program, "--doublewrite", "on", ...sizes, "--out", join(world.home, "crash")]);
  },
  "pool ship": (world) => world.weir(["server", "pool", "ship", "v", "--to", "c"]),
};

function study(world, factors) {
  const file = join(world.home, "study.toml");
  const text = `[study]
title = "A server of another version"
question = "Does a study run on it?"
[server]
flavor = "${world.program}"
config = { innodb_log_buffer_size = "8M" }
[data]
workload = "oltp_read_write"
rows = 2000
[load]
threads = 2
warmup = "0s"
measure = "1s"
[factors]
${factors}
[repeat]
runs = 1
seed = 1
`;
  writeFileSync(file, text);
  // 3: a rule forbids the comparison, as of one repetition, and the runs are complete.
  world.weir(["run", file, "--out", join(world.home, "out")], [0, 3]);
  rmSync(join(world.home, "out"), { recursive: true });
}

/** Has the server write a log of a load, imports it, and replays it. */
function imported(world, kind) {
  for (const [name, value] of Object.entries(LOGS)) {
    world.sql(`SET GLOBAL ${name} = ${value}`);
  }
  // Long enough for a measurement.
  world.load(["oltp_read_write", ...TABLES, "--threads=2", "--rate=10", "--events=30", "--time=0", "run"]);
  world.sql(`SET GLOBAL ${kind === "slow" ? "slow_query_log" : "general_log"} = OFF`);
  const capture = join(world.home, `${kind}.weircap`);
  const log = join(world.server.folder, "data", `${kind}.log`);
  world.weir(["capture", "import", log, "--output", capture]);
  replay(world, capture);
}

function replay(world, capture) {
  const shown = JSON.parse(world.weir(["capture", "show", capture, "--json"]));
  if (shown.fingerprints.length === 0) {
    throw new Error("the capture has no statements");
  }
  world.load([capture, "--allow-write", "run"]);
}

function serverUrl(world, schema) {
  return `${world.server.flavor}://weir@127.0.0.1:${world.server.port}/${schema}`;
}

function clock(time) {
  return time.toISOString().replace("T", " ").replace(/\.\d+Z$/, "+00:00");
}

function freePort() {
  return new Promise((resolved) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolved(port));
    });
  });
}

/** The servers below FOLDER and of this machine: name, version and program. */
function servers() {
  const unpacked = join(folder, "servers");
  const folders = existsSync(unpacked) ? readdirSync(unpacked).map((name) => join(unpacked, name, "bin")) : [];
  const programs = folders.flatMap((bin) => ["mariadbd", "mysqld"].map((name) => join(bin, name)).filter(existsSync).slice(0, 1));
  const doctor = spawnSync(weir, ["doctor"], { encoding: "utf8" }).stdout;
  const own = [...doctor.matchAll(/\/\S+\/(?:mysqld|mariadbd)\b/g)].map(([path]) => path);
  return [...programs, ...new Set(own)].map((program) => {
    const printed = spawnSync(program, ["--no-defaults", "--version"], { encoding: "utf8" }).stdout ?? "";
    const version = / Ver (\d+\.\d+\.\d+)/.exec(printed)?.[1];
    return { program, version, name: `${printed.includes("MariaDB") ? "MariaDB" : "MySQL"} ${version ?? "of an unknown version"}` };
  });
}

/** The newest server of the same flavour. */
function newestLike(server, all) {
  const number = ({ version }) => (version ?? "0").split(".").reduce((sum, part) => sum * 1000 + Number(part), 0);
  const flavor = ({ name }) => name.split(" ")[0];
  const alike = all.filter((other) => flavor(other) === flavor(server));
  return alike.reduce((first, second) => (number(second) > number(first) ? second : first)).program;
}

async function tried(server, all) {
  const world = new World(server.program, server.version ?? "unknown", newestLike(server, all));
  const results = {};
  for (const [feature, run] of Object.entries(FEATURES)) {
    try {
      const said = await run(world);
      results[feature] = { state: "works", ...(feature === "upgrade" ? said : {}) };
    } catch (error) {
      // Folders and ports are of this machine.
      const words = error.message.replace(/\/(?:[\w.-]+\/)+/g, "").replace(/127\.0\.0\.1:\d+/g, "127.0.0.1");
      results[feature] = { state: "fails", why: words };
    }
    const { state, why } = results[feature];
    console.log(`${server.name}: ${feature}: ${state}${why === undefined ? "" : `: ${why}`}`);
    if (feature === "server up" && state !== "works") {
      break;
    }
  }
  world.end();
  return { name: server.name, results };
}

function page(all) {
  const names = Object.keys(FEATURES);
  const cell = (result) => result?.state ?? "not tried";
  const rows = all.map(({ name, results }) => `| ${name} | ${names.map((feature) => cell(results[feature])).join(" | ")} |`);
  const list = (kind) =>
    all
      .flatMap(({ name, results }) => names.map((feature) => [`- ${name}, ${feature}`, results[feature]?.[kind]]))
      .flatMap(([place, words]) => (words === undefined ? [] : [`${place}: ${words}`]));
  const [why, remarks] = [list("why"), list("remark")];
  return `# Tested versions

\`make test-versions\` fetches these servers, tries each feature on each, and writes this page. All other tests run on the
first MySQL and MariaDB of this machine.

| server | ${names.join(" | ")} |
|---|${names.map(() => "---|").join("")}
${rows.join("\n")}

${why.length === 0 ? "Nothing fails." : `What fails:\n\n${why.join("\n")}`}
${remarks.length === 0 ? "" : `\nWhat works in part:\n\n${remarks.join("\n")}\n`}
Not tried:

- MySQL 8.4 and 26.x, MariaDB 12: the registries that these servers come from do not have them (searched 2026-11-29:
  Maven, npm, PyPI, Debian from bullseye to sid).
- Galera clusters, and servers behind HAProxy: Weir has nothing of its own for them.
`;
}

const all = [];
const found = servers();
for (const server of found) {
  all.push(await tried(server, found));
  if (table !== undefined) {
    writeFileSync(table, page(all));
  }
}
const has_failed = all.some(({ results }) => Object.values(results).some(({ state }) => state === "fails"));
process.exit(all.length === 0 || has_failed ? 1 : 0);
