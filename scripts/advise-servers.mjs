// Plants four true and eight false problems at random in each of many private servers, asks `weir advise --run` and MySQLTuner
// about each, and writes a page of what they named.
//
//   node scripts/advise-servers.mjs WEIR FOLDER PAGE.md [SERVERS]
//
// A true problem costs the load of advise-servers/load.toml a fifth or more. Of a false one nothing in the load takes notice.
// Each server's outcome is a file in FOLDER, so that the next call goes on where this one stopped. The page is written after
// each server.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join, resolve } from "node:path";

const [weir, folder, page] = process.argv.slice(2, 5).map((path) => resolve(path));
if (page === undefined) {
  console.error("usage: node scripts/advise-servers.mjs WEIR FOLDER PAGE.md [SERVERS]");
  process.exit(2);
}
const servers = Number(process.argv[5] ?? 20);
const load = join(import.meta.dirname, "advise-servers/load.toml");
const TRUE_PROBLEMS = 4;
const FALSE_PROBLEMS = 8;
const LOOK_S = 10;
/** Transactions of a capture: a run without the problems takes 4 s for them here. */
const TRANSACTIONS = { mysql: 12_000, mariadb: 24_000 };
const CAPTURE_S_MAX = 60;
const WARMUP_S = 1;
/** Settings of all servers, with which no problem is there. */
const GOOD = { innodb_buffer_pool_size: "256M", innodb_log_buffer_size: "32M", sort_buffer_size: "2M", tmp_table_size: "16M", max_heap_table_size: "16M" };
const REDO = { mysql: "innodb_redo_log_capacity", mariadb: "innodb_log_file_size" };
const SNAPSHOTS = { with: "with-index", without: "without-index" };

/**
 * Problems that the load feels, each by a fifth of its throughput or more: the settings that plant each, or the lack of an
 * index. It feels no small log buffer: not on MariaDB, and not on MySQL once the log's writer threads are on.
 */
const true_problems = (flavor) => ({
  "buffer pool": { innodb_buffer_pool_size: "16M" },
  "redo log": { [REDO[flavor]]: "8M" },
  "missing index": {},
  "sort buffer": { sort_buffer_size: "32K" },
  "temporary tables": { tmp_table_size: "64K", max_heap_table_size: "64K" },
});
/** Settings that look wrong, and that nothing in the load uses. */
const FALSE_SETTINGS = {
  join_buffer_size: "128",
  thread_cache_size: "0",
  table_open_cache: "80",
  table_definition_cache: "400",
  read_rnd_buffer_size: "8K",
  read_buffer_size: "8K",
  key_buffer_size: "8",
  max_connections: "4000",
  innodb_open_files: "64",
  innodb_purge_threads: "1",
  innodb_stats_on_metadata: "ON",
  host_cache_size: "0",
  innodb_sort_buffer_size: "64K",
};

/** So many of the names, in an order that the number decides. */
function drawn(names, count, number) {
  const key = (name) => createHash("sha256").update(`${number} ${name}`).digest("hex");
  return [...names].sort((a, b) => (key(a) < key(b) ? -1 : 1)).slice(0, count);
}

/** What is planted in a server: its flavour, true problems and false settings. */
function plant(number) {
  const flavor = number % 2 === 0 ? "mariadb" : "mysql";
  const trues = drawn(Object.keys(true_problems(flavor)), TRUE_PROBLEMS, number);
  const falses = drawn(Object.keys(FALSE_SETTINGS), FALSE_PROBLEMS, number);
  return { flavor, trues, falses };
}

/** Servers of a flavour, with data that are made once. */
class World {
  constructor(flavor) {
    this.flavor = flavor;
    this.children = new Set();
    this.is_interrupted = false;
    this.home = join(folder, flavor);
    mkdirSync(this.home, { recursive: true });
    // Sockets need short paths.
    this.runtime = mkdtempSync("/tmp/wa.");
    this.environment = {
      ...process.env,
      XDG_RUNTIME_DIR: this.runtime,
      XDG_STATE_HOME: join(this.home, "state"),
      XDG_CACHE_HOME: join(this.home, "cache"),
    };
  }

  run([program, ...words], { may_fail = false } = {}) {
    const ended = spawnSync(program, words, { env: this.environment, encoding: "utf8", maxBuffer: 2 ** 26, timeout: 3_600_000 });
    if (ended.status !== 0 && !may_fail) {
      throw new Error(`${program} ${words.join(" ")}: ${ended.error ?? ended.stdout + ended.stderr}`);
    }
    return ended;
  }

  up(name, snapshot, settings) {
    const sets = Object.entries(settings).flatMap(([setting, value]) => ["--set", `${setting}=${value}`]);
    const from = snapshot === undefined ? [] : ["--snapshot", snapshot];
    const words = ["server", "up", name, "--server", this.flavor, "--port", "0", ...from, ...sets, "--json"];
    return { ...JSON.parse(this.run([weir, ...words]).stdout), name };
  }

  down(name) {
    this.run([weir, "server", "down", name, "--remove"], { may_fail: true });
  }

  options(server) {
    return join(server.folder, "client.cnf");
  }

  sql(server, text) {
    return this.run(["mariadb", `--defaults-file=${this.options(server)}`, "--execute", text]).stdout;
  }

  /** Words of `weir load` on a server; the password comes from its option file. */
  load(server, port, words) {
    const to = ["--mysql-host=127.0.0.1", `--mysql-port=${port}`, "--mysql-user=weir", "--mysql-db=shop", "--threads=8"];
    return [weir, "load", load, `--defaults-file=${this.options(server)}`, ...to, ...words];
  }

  /** The same data with the index on customers and without. */
  prepare() {
    if (this.run([weir, "server", "snapshot", "list"]).stdout.includes(SNAPSHOTS.without)) {
      return;
    }
    this.down("base");
    const server = this.up("base", undefined, GOOD);
    this.sql(server, "CREATE DATABASE IF NOT EXISTS shop");
    this.run(this.load(server, server.port, ["prepare"]));
    this.run([weir, "server", "snapshot", "take", "base", "--as", SNAPSHOTS.with]);
    this.sql(server, "ALTER TABLE shop.orders DROP INDEX customer");
    this.run([weir, "server", "snapshot", "take", "base", "--as", SNAPSHOTS.without]);
    this.down("base");
  }

  /** Ends with an error unless the exit code is one of `codes`. */
  start(words, codes = [0]) {
    if (this.is_interrupted) {
      throw new Error("interrupted");
    }
    const child = spawn(words[0], words.slice(1), { env: this.environment, stdio: ["ignore", "pipe", "pipe"] });
    this.children.add(child);
    let said = "";
    child.stdout.on("data", (text) => (said += text));
    child.stderr.on("data", (text) => (said += text));
    return new Promise((done, fail) => {
      child.on("error", fail);
      child.on("close", () => this.children.delete(child));
      child.on("close", (code) => (codes.includes(code) ? done(said) : fail(new Error(`${words.join(" ")}: ${said}`))));
    });
  }

  /** A capture of the load on a server. */
  async capture(server) {
    const file = join(this.home, "load.weircap");
    rmSync(file, { force: true });
    const port = server.port + 1;
    const listen = `127.0.0.1:${port}`;
    const proxy = this.start([weir, "capture", "proxy", "--listen", listen, "--to", `${this.flavor}://127.0.0.1:${server.port}`, "-o", file, "--for", `${CAPTURE_S_MAX}s`], [0, 130]);
    await new Promise((done) => setTimeout(done, 1000));
    await this.start(this.load(server, port, [`--events=${TRANSACTIONS[this.flavor]}`, "--time=0", "run"]));
    this.children.forEach((child) => child.kill("SIGINT"));
    await proxy;
    return file;
  }

  end() {
    rmSync(this.runtime, { recursive: true, force: true });
  }
}

/** Settings that an advice confirmed, in the lines for the option file, and `index` where it has a statement. */
function confirmed(advice) {
  const [, lines = ""] = /\[mysqld\]\n((?:.+\n?)*)/.exec(advice) ?? [];
  const settings = [...lines.matchAll(/^(\w+) = /gm)].map(([, name]) => name);
  return /^ALTER TABLE .*;$/m.test(advice) ? [...settings, "index"] : settings;
}

/** Settings that MySQLTuner would adjust; none where it ended before it said so. */
function tuned(said) {
  const [, lines] = /Variables to adjust:\n([\s\S]*)/.exec(said) ?? [];
  return lines && [...lines.matchAll(/^\s+(?:SET (?:GLOBAL )?)?(\w+)/gm)].map(([, name]) => name);
}

async function examine(number) {
  const { flavor, trues, falses } = plant(number);
  const world = new World(flavor);
  const settings = { ...GOOD, [REDO[flavor]]: "512M" };
  for (const name of trues) {
    Object.assign(settings, true_problems(flavor)[name]);
  }
  for (const name of falses) {
    settings[name] = FALSE_SETTINGS[name];
  }
  const snapshot = trues.includes("missing index") ? SNAPSHOTS.without : SNAPSHOTS.with;
  const name = `s${number}`;
  const interrupted = () => {
    world.is_interrupted = true;
    world.children.forEach((child) => child.kill("SIGINT"));
  };
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    world.prepare();
    world.down(name);
    const server = world.up(name, snapshot, settings);
    const capture = await world.capture(server);
    const url = `${flavor}:///shop?socket=${server.socket}&option-file=${world.options(server)}`;
    const out = join(world.home, name);
    rmSync(out, { recursive: true, force: true });
    const began = performance.now();
    const busy = world.start(world.load(server, server.port, [`--time=${LOOK_S + 2}`, "run"]));
    const advise = ["advise", url, "--seconds", LOOK_S, "--capture", capture, "--data", snapshot, "--warmup", `${WARMUP_S}s`, "--out", out];
    // 3: a rule refuses a comparison.
    const advice = world.start([weir, ...advise.map(String), "--work", join(world.home, "work"), "--run"], [0, 3]);
    await Promise.race([advice, busy]);
    await busy;
    const tuner = world.run(["mysqltuner", "--defaults-file", world.options(server), "--nocolor", "--skippassword"], { may_fail: true });
    const said = await advice;
    const seconds = (performance.now() - began) / 1000;
    writeFileSync(join(folder, `${number}.advice.txt`), said);
    writeFileSync(join(folder, `${number}.mysqltuner.txt`), `${tuner.stdout}${tuner.stderr}`);
    return { number, flavor, trues, falses, seconds, load: loadavg()[0], weir: confirmed(said), mysqltuner: tuned(tuner.stdout) };
  } finally {
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    world.down(name);
    world.end();
  }
}

/** What a tool named of the planted problems, and what else. */
function named({ flavor, trues, falses }, settings) {
  const settings_of = true_problems(flavor);
  const plants = Object.fromEntries(trues.map((name) => [name, name === "missing index" ? ["index"] : Object.keys(settings_of[name])]));
  const found = trues.filter((name) => plants[name].some((setting) => settings.includes(setting)));
  const wrong = falses.filter((name) => settings.includes(name));
  const planted = [...Object.values(plants).flat(), ...falses];
  const others = settings.filter((name) => !planted.includes(name));
  return { found, wrong, others };
}

function write_page() {
  const files = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name));
  const outcomes = files.map((name) => JSON.parse(readFileSync(join(folder, name), "utf8"))).sort((a, b) => a.number - b.number);
  const tools = ["weir", "mysqltuner"];
  const sums = Object.fromEntries(tools.map((tool) => [tool, { servers: 0, found: 0, wrong: 0, others: 0, enough: 0 }]));
  const rows = outcomes.map((outcome) => {
    const cells = tools.map((tool) => {
      if (outcome[tool] === undefined) {
        return "ended with an error";
      }
      const { found, wrong, others } = named(outcome, outcome[tool]);
      const sum = sums[tool];
      sum.servers += 1;
      sum.found += found.length;
      sum.wrong += wrong.length;
      sum.others += others.length;
      sum.enough += found.length >= TRUE_PROBLEMS - 1 ? 1 : 0;
      const more = [wrong.length > 0 && `false: ${wrong.join(", ")}`, others.length > 0 && `not planted: ${others.join(", ")}`];
      return `${found.length}: ${[found.join(", "), ...more.filter(Boolean)].filter(Boolean).join("; ")}`;
    });
    return `| ${outcome.number} | ${outcome.flavor} | ${outcome.trues.join(", ")} | ${cells.join(" | ")} | ${Math.round(outcome.seconds / 60)} |`;
  });
  const total = (tool, title) => {
    const { servers, found, wrong, others, enough } = sums[tool];
    return `| ${title} | ${found} of ${TRUE_PROBLEMS * servers} | ${enough} of ${servers} | ${wrong} of ${FALSE_PROBLEMS * servers} | ${others} |`;
  };
  const day = new Date().toISOString().slice(0, 10);
  writeFileSync(
    page,
    `# Measured: advice

\`make bench-advise\` plants ${TRUE_PROBLEMS} true and ${FALSE_PROBLEMS} false problems at random in each of ${outcomes.length} private servers, and asks
[\`weir advise --run\`](../advise.md) and MySQLTuner about each. Last run: ${day}.

- The load is \`scripts/advise-servers/load.toml\` on eight connections. A run replays
  ${TRANSACTIONS.mysql} (MySQL) or ${TRANSACTIONS.mariadb} (MariaDB) transactions of it as fast as the server answers.
- A true problem costs the load a fifth of its throughput or more. A false one is a setting that looks wrong, and that
  nothing in the load uses.
- Weir names a problem if new runs confirmed its candidate. MySQLTuner names one if it would adjust the setting.

| tool | true problems named | servers with ${TRUE_PROBLEMS - 1} or more | false ones named | settings that were not planted |
|---|---|---|---|---|
${total("weir", "`weir advise --run`")}
${total("mysqltuner", "MySQLTuner")}

A setting that was not planted may be worth changing, too: Weir's have new runs behind them.

| server | flavour | true problems | Weir named | MySQLTuner named | minutes |
|---|---|---|---|---|---|
${rows.join("\n")}
`,
  );
}

mkdirSync(folder, { recursive: true });
for (let number = 1; number <= servers; number += 1) {
  const file = join(folder, `${number}.json`);
  if (existsSync(file)) {
    continue;
  }
  const outcome = await examine(number);
  writeFileSync(file, JSON.stringify(outcome, null, 1));
  const { found, wrong } = named(outcome, outcome.weir);
  console.log(`server ${number} (${outcome.flavor}): ${found.length} of ${TRUE_PROBLEMS} named, ${wrong.length} false, ${Math.round(outcome.seconds)} s`);
  write_page();
}
write_page();
