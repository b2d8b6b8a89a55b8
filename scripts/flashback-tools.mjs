// Lets the histories of flashback-tools/histories.sql happen on a MySQL and a MariaDB, undoes the bad change of each with
// Weir and with other tools, and compares all rows of all tables with those of a history without the bad change.
//
//   node scripts/flashback-tools.mjs WEIR FOLDER [PAGE.md] [HISTORY...]
//
// With names of histories only these happen anew.
// The tools: `mariadb-binlog --flashback`, binlog2sql, and a restore to a point in time (a copy of the data from before and
// `mysqlbinlog`). Scripts and outputs of tools are in FOLDER. The exit status is 1 if Weir left a wrong row.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname, join, resolve } from "node:path";

const [weir, folder, page] = process.argv.slice(2, 5).map((path) => resolve(path));
if (folder === undefined) {
  console.error("usage: node scripts/flashback-tools.mjs WEIR FOLDER [PAGE.md] [HISTORY...]");
  process.exit(2);
}
const wanted = process.argv.slice(5);
const own = join(import.meta.dirname, "flashback-tools");
const BINLOG2SQL = ["binlog2sql-util==1.0.4", "mysql-replication==0.46", "PyMySQL==1.2.4", "cryptography", "packaging"];
const python = join(folder, "python");
/** Nothing of a tool's output is longer than that of the large history. */
const OUTPUT_MAX_BYTES = 2 ** 30;
const LOG = "binlog.000001";
/** A clock that changes, so that an hour of autumn comes twice; servers and tools have it. */
const ZONE = "CET-1CEST,M3.5.0,M10.5.0/3";

/** Histories: name, title, damaged tables, flavour, and the sessions. */
function histories() {
  const all = [];
  let part;
  for (const line of readFileSync(join(own, "histories.sql"), "latin1").split("\n")) {
    const [, word, rest] = /^-- @(\w+) ?(.*)$/.exec(line) ?? [];
    if (word === "history") {
      const [, name, title] = /^(\S+): (.*)$/.exec(rest);
      all.push({ name, title });
    } else if (word === "tables" || word === "only") {
      all.at(-1)[word] = rest.split(" ");
    } else if (word !== undefined && all.length > 0) {
      part = word;
      all.at(-1)[part] = "";
    } else if (part !== undefined) {
      all.at(-1)[part] += `${line}\n`;
    }
  }
  return all;
}

/** One flavour's servers, in a home of their own. */
class World {
  constructor(flavor) {
    this.flavor = flavor;
    // Sockets need short paths.
    this.home = mkdtempSync("/tmp/wt.");
    this.environment = {
      ...process.env,
      TZ: ZONE,
      XDG_RUNTIME_DIR: this.home,
      XDG_STATE_HOME: join(this.home, "s"),
      XDG_CACHE_HOME: join(this.home, "c"),
    };
    const gtids = flavor === "mysql" ? ["gtid_mode=ON", "enforce_gtid_consistency=ON"] : [];
    const settings = ["log_bin=binlog", "binlog_format=ROW", "server_id=7", "max_binlog_size=1G", ...gtids];
    const words = ["server", "up", "v", "--server", flavor, "--port", "0", ...settings.flatMap((set) => ["--set", set])];
    this.server = JSON.parse(this.run([weir, ...words, "--json"]).stdout);
    this.log = join(this.server.folder, "data", LOG);
    this.run([weir, "server", "snapshot", "take", "v", "--as", "before"]);
    // Weir finds its account where the server's owner would have it.
    this.user = join(this.home, "user");
    mkdirSync(this.user);
    writeFileSync(join(this.user, ".my.cnf"), readFileSync(this.options("v")), { mode: 0o600 });
  }

  /** Ends with an error unless `may_fail`. */
  run([program, ...words], { input, may_fail = false, home } = {}) {
    const environment = home === undefined ? this.environment : { ...this.environment, HOME: home };
    const ended = spawnSync(program, words, { env: environment, encoding: "latin1", input, maxBuffer: OUTPUT_MAX_BYTES, timeout: 600_000 });
    if (ended.status !== 0 && !may_fail) {
      throw new Error(`${program} ${words.join(" ")}: ${ended.error ?? ended.stderr}`);
    }
    return ended;
  }

  options(name) {
    return join(this.home, "s/weir/instances", name, "client.cnf");
  }

  /** A session of the client that people use. */
  sql(text, { name = "v", may_fail = false } = {}) {
    const client = ["mariadb", `--defaults-file=${this.options(name)}`, "--default-character-set=utf8mb4", "--batch", "--skip-column-names", "--raw"];
    return this.run(client, { input: text, may_fail });
  }

  rows(text, name = "v") {
    const { stdout } = this.sql(text, { name });
    return stdout.split("\n").slice(0, -1).map((line) => line.split("\t"));
  }

  /** An empty log and no schema but the servers' own. */
  clean(name = "v") {
    const reset = this.flavor === "mysql" ? "RESET BINARY LOGS AND GTIDS" : "RESET MASTER";
    this.sql(`SET SESSION foreign_key_checks = 0; DROP DATABASE IF EXISTS shop; ${reset};`, { name });
  }

  position() {
    const status = this.flavor === "mysql" ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS";
    const gtids = this.flavor === "mysql" ? "@@GLOBAL.gtid_executed" : "@@GLOBAL.gtid_binlog_pos";
    const [[, position], [last]] = this.rows(`${status}; SELECT ${gtids};`);
    // One server, without gaps: UUID:1-LAST or DOMAIN-SERVER-LAST.
    const [, prefix, number] = this.flavor === "mysql" ? /^(.*:)(?:1-)?(\d+)$/.exec(last) : /^(.*-)(\d+)$/.exec(last);
    return { position, prefix, number: Number(number) };
  }

  /** Lets a history happen; where its bad change lies in the log. */
  live(history, has_bad) {
    this.clean();
    this.sql(`CREATE DATABASE shop;\n${history.setup}`);
    const start = this.position();
    this.sql(has_bad ? history.bad : (history.good ?? ""));
    const stop = this.position();
    this.sql(history.later);
    const gtids = [];
    for (let number = start.number + 1; number <= stop.number; number += 1) {
      gtids.push(`${start.prefix}${number}`);
    }
    return { start: start.position, stop: stop.position, gtids };
  }

  /** All rows of all tables, byte for byte, with the types of their columns. */
  content(name = "v") {
    const columns = this.rows(
      `SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, CONCAT_WS(' ', COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE)
       FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' ORDER BY BINARY TABLE_NAME, ORDINAL_POSITION;`,
      name,
    );
    const tables = grouped(columns, ([table]) => table);
    const content = new Map();
    for (const [table, list] of tables) {
      const values = list.map(([, column, type]) => `COALESCE(${exact(`\`${column}\``, type)}, '~')`);
      const rows = this.rows(`SET time_zone = '+00:00'; SELECT CONCAT_WS(' ', ${values.join(", ")}) FROM shop.\`${table}\`;`, name);
      content.set(table, { columns: JSON.stringify(list), rows: rows.map(([row]) => row).sort() });
    }
    return content;
  }

  end() {
    for (const name of ["p", "v"]) {
      this.run([weir, "server", "down", name, "--remove"], { may_fail: true });
    }
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** As `Map.groupBy`, which Node.js has from 21 on. */
function grouped(list, name_of) {
  const groups = new Map();
  for (const one of list) {
    groups.set(name_of(one), [...(groups.get(name_of(one)) ?? []), one]);
  }
  return groups;
}

/** An expression from which the stored bytes of a value follow. */
function exact(column, type) {
  if (["float", "double"].includes(type)) {
    return `CAST(${column} AS DOUBLE)`;
  }
  if (["bit", "enum", "set"].includes(type)) {
    return `CAST(${column} AS UNSIGNED)`;
  }
  const is_bytes = /char|text|blob|binary|json/.test(type);
  return is_bytes ? `HEX(${type === "json" ? `CAST(${column} AS CHAR)` : column})` : `CAST(${column} AS CHAR)`;
}

/** The tools: each makes its script (a text, or an end with an error) and has a flavour if it is not for both. */
const TOOLS = {
  Weir: { script: weirs },
  "mariadb-binlog --flashback": { only: "mariadb", script: mariadbs },
  binlog2sql: { script: binlog2sqls },
  restore: { restores: true },
};

function weirs(world, history, lived, file) {
  const script = `${file}.sql`;
  rmSync(script, { force: true });
  const gtids = lived.gtids.flatMap((gtid) => ["--gtid", gtid]);
  const url = `${world.flavor}://weir@127.0.0.1:${world.server.port}/shop`;
  const words = ["flashback", url, "--tables", history.tables.join(","), "--before-gtid", lived.gtids[0], ...gtids, "--undo", script];
  const ended = world.run([weir, ...words, "--server", world.server.program], { may_fail: true, home: world.user });
  writeFileSync(`${file}.out`, `${ended.stdout}${ended.stderr}`);
  if (ended.status !== 0) {
    return { failed: ended.stderr };
  }
  const [, conflicts] = /(\d+) conflicts?/.exec(ended.stdout + ended.stderr) ?? [];
  return { text: readFileSync(script, "latin1"), is_told: Number(conflicts) > 0 };
}

function install_binlog2sql() {
  if (!existsSync(join(python, "ready"))) {
    spawnSync("python3", ["-m", "venv", python]);
    const ended = spawnSync(join(python, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", ...BINLOG2SQL]);
    if (ended.status !== 0) {
      throw new Error(`pip could not install ${BINLOG2SQL.join(", ")}: ${ended.stderr}`);
    }
    writeFileSync(join(python, "ready"), "");
  }
}

/** All that the change did in the log. With `--table` the output of 10.11 is broken if a trigger changed another table. */
function mariadbs(world, history, lived, file) {
  const words = ["--flashback", `--start-position=${lived.start}`, `--stop-position=${lived.stop}`, world.log];
  return written(world.run(["mariadb-binlog", ...words], { may_fail: true }), file);
}

function binlog2sqls(world, history, lived, file) {
  const words = [join(own, "binlog2sql.py"), world.options("v"), LOG, lived.start, lived.stop, ...history.tables];
  return written(world.run([join(python, "bin/python"), ...words], { may_fail: true }), file);
}

function written(ended, file) {
  writeFileSync(`${file}.sql`, ended.stdout, "latin1");
  writeFileSync(`${file}.out`, ended.stderr);
  return ended.status === 0 ? { text: ended.stdout } : { failed: ended.stderr };
}

/** Restores the copy from before on another server and replays the log but for the bad change. */
function restored(world, lived, file) {
  world.run([weir, "server", "up", "p", "--server", world.server.program, "--snapshot", "before"]);
  world.clean("p");
  const reader = world.flavor === "mariadb" ? ["mariadb-binlog"] : mysqlbinlog(world.server.program);
  let failed = "";
  for (const part of [`--stop-position=${lived.start}`, `--start-position=${lived.stop}`]) {
    const { text, failed: unread } = written(world.run([...reader, part, world.log], { may_fail: true }), file);
    const ended = unread === undefined ? world.sql(text, { name: "p", may_fail: true }) : undefined;
    failed ||= unread ?? (ended.status === 0 ? "" : ended.stderr);
  }
  return failed;
}

/** The reader of logs that came with a server. One that `install-mysql.sh` unpacked needs its own libraries. */
function mysqlbinlog(server) {
  const prefix = join(dirname(server), "..");
  const found = ["bin", "usr/bin"].map((path) => join(prefix, path, "mysqlbinlog")).find(existsSync) ?? "mysqlbinlog";
  const below = join(prefix, "usr/lib");
  const folders = existsSync(below) ? readdirSync(below).map((name) => join(below, name)) : [];
  for (const libraries of folders) {
    const linker = statSync(libraries).isDirectory() && readdirSync(libraries).find((name) => name.startsWith("ld-linux"));
    if (linker) {
      return [join(libraries, linker), "--library-path", `${libraries}:${join(below, "mysql/private")}`, found];
    }
  }
  return [found];
}

/** What became of a history's bad change by a tool. */
function tried(world, history, tool, wish) {
  const lived = world.live(history, true);
  const now = world.content();
  const file = join(folder, `${world.flavor}.${history.name}.${tool.replace(/\W+/g, "-")}`);
  const began = performance.now();
  const { script, restores } = TOOLS[tool];
  let [failed, is_told, found] = ["", false];
  if (restores) {
    failed = restored(world, lived, file);
    found = world.content("p");
    world.run([weir, "server", "down", "p", "--remove"]);
  } else {
    const made = script(world, history, lived, file);
    is_told = made.is_told;
    failed = made.failed ?? "";
    if (made.text !== undefined) {
      const ended = world.sql(made.text, { may_fail: true });
      failed = ended.status === 0 ? "" : ended.stderr;
    }
  }
  const seconds = (performance.now() - began) / 1000;
  found ??= world.content();
  const verdict = judge({ found, now, wish, damaged: history.tables.map((table) => table.split(".")[1]) });
  return { seconds, why: failed, verdict: said(verdict, { failed, is_told, tool }) };
}

/** Compares with the history without the bad change; other tables may also be as they are now. */
function judge({ found, now, wish, damaged }) {
  let is_right = true;
  let is_as_now = true;
  for (const table of new Set([...found.keys(), ...now.keys(), ...wish.keys()])) {
    const [is, was, wanted] = [found, now, wish].map((content) => content.get(table));
    is_as_now &&= is_same(is, was);
    if (is_same(is, wanted)) {
      continue;
    }
    if (!damaged.includes(table)) {
      if (!is_same(is, was)) {
        return "other tables changed";
      }
      continue;
    }
    is_right = false;
    // A row is as it should be or as the bad change left it, and none that was right has gone.
    const [held, known] = [new Set(is?.rows), new Set([...(was?.rows ?? []), ...(wanted?.rows ?? [])])];
    const kept = (was?.rows ?? []).filter((row) => wanted?.rows.includes(row));
    if (is?.rows.some((row) => !known.has(row)) || kept.some((row) => !held.has(row))) {
      return "wrong rows";
    }
  }
  return is_right ? "right" : is_as_now ? "nothing changed" : "some rows left";
}

function is_same(a, b) {
  return a?.columns === b?.columns && a?.rows.length === b?.rows.length && (a?.rows.every((row, at) => row === b.rows[at]) ?? true);
}

function said(verdict, { failed, is_told, tool }) {
  if (verdict === "right") {
    return verdict;
  }
  if (failed !== "") {
    const refuses = tool === "Weir" ? "refused" : "error";
    // What was restored in part is on another server.
    return verdict === "nothing changed" || TOOLS[tool].restores ? refuses : `error; ${verdict}`;
  }
  return `${verdict}, ${is_told ? "and says so" : "without a word"}`;
}

/** The last line that a tool said, without what is of this machine. */
function last(text) {
  const lines = text.trim().split("\n").filter((line) => line !== "");
  const line = lines.find((line) => line.startsWith("weir: ")) ?? lines.find((line) => line.startsWith("ERROR")) ?? lines.at(-1) ?? "";
  return line
    .replace(/\/(?:[\w.-]+\/)+/g, "")
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "UUID")
    .slice(0, 300);
}

function tools_of(flavor) {
  return Object.keys(TOOLS).filter((tool) => (TOOLS[tool].only ?? flavor) === flavor);
}

function on(flavor, results) {
  const mine = histories().filter(({ name, only }) => (wanted.length === 0 || wanted.includes(name)) && (only === undefined || only[0] === flavor));
  const world = new World(flavor);
  const name = `${flavor === "mysql" ? "MySQL" : "MariaDB"} ${world.server.version}`;
  try {
    for (const history of mine) {
      world.live(history, false);
      const wish = world.content();
      for (const tool of tools_of(flavor)) {
        const result = { server: name, flavor, history: history.name, tool, ...tried(world, history, tool, wish) };
        results.push(result);
        console.log(`${name}: ${history.name}: ${tool}: ${result.verdict} (${result.seconds.toFixed(2)} s) ${last(result.why)}`);
      }
    }
  } finally {
    world.end();
  }
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** The part of the page about one server; `all` are the histories that it can have, in their order. */
function section(results, all) {
  const { flavor, server } = results[0];
  const tools = tools_of(flavor);
  const find = (name, tool) => results.find((result) => result.history === name && result.tool === tool);
  const rows = all.map(({ name, title }) => `| ${title} | ${tools.map((tool) => find(name, tool).verdict).join(" | ")} |`);
  const count = (pattern) => tools.map((tool) => results.filter((one) => one.tool === tool && pattern.test(one.verdict)).length).join(" | ");
  const small = (tool) => median(results.filter((one) => one.tool === tool && one.history !== "large").map(({ seconds }) => seconds));
  const why = all.flatMap(({ name, title }) =>
    tools
      .map((tool) => find(name, tool))
      .filter((one) => one.why !== "")
      .map(({ tool, why }) => `- ${title}, ${tool}: \`${last(why).replaceAll("`", "'").replace(/^weir: /, "")}\``),
  );
  return `## ${server}

| change to undo | ${tools.join(" | ")} |
|---|${tools.map(() => "---|").join("")}
${rows.join("\n")}
| **right, of ${all.length}** | ${count(/^right$/)} |
| **not right, without a word** | ${count(/without a word$/)} |
| median time of the small tables, s | ${tools.map((tool) => small(tool).toFixed(1)).join(" | ")} |
| time of the large table, s | ${tools.map((tool) => find("large", tool).seconds.toFixed(1)).join(" | ")} |

Errors and refusals in the tools' words:

${why.join("\n")}
`;
}

function written_page(results) {
  const intro = readFileSync(join(own, "page.md"), "utf8");
  const facts = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, load at the end ${loadavg()[0].toFixed(1)}`;
  const parts = ["mysql", "mariadb"].map((flavor) => {
    const all = histories().filter(({ only }) => only === undefined || only[0] === flavor);
    return section(results.filter((result) => result.flavor === flavor), all);
  });
  return `${intro.replace("FACTS", facts)}\n${parts.join("\n")}`;
}

mkdirSync(folder, { recursive: true });
install_binlog2sql();
// Histories that are not wanted keep their results of before.
const file = join(folder, "results.json");
const known = wanted.length > 0 && existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
const results = known.filter(({ history }) => !wanted.includes(history));
for (const flavor of ["mysql", "mariadb"]) {
  on(flavor, results);
  writeFileSync(file, JSON.stringify(results));
}
if (page !== undefined) {
  writeFileSync(page, written_page(results));
}
const is_wrong = results.some(({ tool, verdict }) => tool === "Weir" && /wrong|other tables|without a word/.test(verdict));
process.exit(is_wrong ? 1 : 0);
