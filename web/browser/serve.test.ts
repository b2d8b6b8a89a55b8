// `weir serve` in a real browser, over a real, short study on a real server.

import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, launch } from "./chromium.ts";

const HOSTILE = "<img src=x onerror=\"document.title='broken'\">";
const STRANGE_TABLE = "<img src=x onerror=document.title=2>";
const study = (initFile: string): string => `
[study]
title = '''Short ${HOSTILE}'''
question = "Does the live view live?"
[server]
flavor = "mysql"
[server.config]
innodb_buffer_pool_size = "16M"
slow_query_log = "ON"
slow_query_log_file = "/nowhere/<img src=x onerror=document.title=1>"
init_file = "${initFile}"
[data]
workload = "oltp_read_write"
tables = 1
rows = 10_000
[load]
threads = [2, 4]
warmup = "1s"
measure = "5s"
[repeat]
runs = 1
seed = 1
`;

let browser: Browser;
let folder: string;
const servers: ChildProcess[] = [];
let address: string;
let complaints: string[];

/** The program that `cargo build` or `cargo test` made. */
function weir(): string {
  const target = process.env["CARGO_TARGET_DIR"] ?? fileURLToPath(new URL("../../target", import.meta.url));
  const found = [process.env["WEIR"] ?? "", join(target, "debug/weir"), join(target, "release/weir")].find((file) => file !== "" && existsSync(file));
  if (found === undefined) {
    throw new Error("no weir program; run `cargo build --package weir` or set WEIR");
  }
  return found;
}

/** Starts a server on a free port and gives its address. */
function serve(...more: string[]): Promise<string> {
  const server = spawn(weir(), ["serve", join(folder, "results"), "--studies", join(folder, "studies"), "--listen", "127.0.0.1:0", ...more], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, XDG_RUNTIME_DIR: join(folder, "run") },
  });
  servers.push(server);
  return new Promise((resolve, reject) => {
    let said = "";
    server.stderr.on("data", (data: Buffer) => {
      said += data.toString();
      const found = /on (http:\/\/[\d.:]+)\//.exec(said)?.[1];
      if (found !== undefined) {
        resolve(found);
      }
    });
    server.on("exit", () => reject(new Error(said)));
  });
}

beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "weir-serve-"));
  for (const name of ["results", "studies", "run"]) {
    mkdirSync(join(folder, name), { mode: 0o700 });
  }
  // What a server says of a table that it does not find, it says with the table's name.
  const initFile = join(folder, "init.sql");
  writeFileSync(initFile, `SELECT * FROM mysql.\`${STRANGE_TABLE}\`;\n`);
  writeFileSync(join(folder, "studies/short.toml"), study(initFile));
  address = await serve();
});

afterAll(async () => {
  await browser.close();
  for (const server of servers.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    const ended = new Promise((resolve) => server.on("exit", resolve));
    server.kill("SIGTERM");
    await ended;
  }
  rmSync(folder, { recursive: true });
});

afterEach(() => {
  expect(complaints).toEqual([]);
});

async function open(path = "/", width = 1100, at = address): Promise<Page> {
  const context = await browser.newContext({ viewport: { width, height: 900 } });
  const page = await context.newPage();
  complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  await page.goto(at + path);
  return page;
}

describe("weir serve", () => {
  // Two runs on a real server: half a minute on a quiet machine.
  it("starts a study, shows it live through a reload, lists, opens and compares what it made", { timeout: 180_000 }, async () => {
    const page = await open();
    await page.getByRole("button", { name: "Start study" }).click();
    const live = page.locator("article.live");
    await live.waitFor({ timeout: 50_000 });
    expect(await live.locator("h3").textContent()).toBe(`Short ${HOSTILE}`);
    const rate = live.locator(".now dd").first();
    await expect.poll(() => rate.textContent(), { timeout: 50_000 }).toMatch(/[1-9]/);
    const before = await rate.textContent();
    await expect.poll(() => rate.textContent(), { timeout: 20_000 }).not.toBe(before);
    const bottleneck = live.locator(".now div", { hasText: "limited by" }).locator("dd");
    await expect.poll(() => bottleneck.textContent(), { timeout: 20_000 }).toMatch(/[a-z]{4}/);
    expect(await (await fetch(`${address}/metrics`)).text()).toMatch(/^weir_run_bottleneck\{.*weir_run_bottleneck="[a-zA-Z ]+"\} 1$/m);
    await page.reload();
    await live.waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Stop study" }).isVisible()).toBe(true);
    await expect.poll(() => page.getByRole("button", { name: "Start study" }).isVisible()).toBe(false);
    await expect.poll(() => live.count(), { timeout: 120_000 }).toBe(0);
    const title = page.locator(".result h3 a");
    await expect.poll(() => title.count(), { timeout: 20_000 }).toBe(1);
    expect(await title.textContent()).toBe(`Short ${HOSTILE}`);
    await expect.poll(() => page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe("Weir");

    await page.locator(".search").fill("nothing like it");
    await expect.poll(() => page.locator(".result").count()).toBe(0);
    await page.locator(".search").fill("short mysql");
    await expect.poll(() => page.locator(".result").count()).toBe(1);

    await page.getByRole("link", { name: "runs over time" }).click();
    await page.locator("tbody th a").first().click();
    const plot = page.locator(".panel").first();
    await plot.locator("canvas").waitFor();
    await plot.locator(".u-over").hover({ position: { x: 80, y: 40 } });
    await expect.poll(() => plot.locator(".reading").first().textContent()).toMatch(/\d/);
    // What a server says, with markup in it, stays text.
    await page.getByText("Error log of the server").click();
    const log = page.locator("#run pre").first();
    await expect.poll(() => log.textContent()).toContain("/nowhere/<img src=x");
    expect(await log.textContent()).toContain(`Table 'mysql.${STRANGE_TABLE}'`);
    expect(await page.locator("img").count()).toBe(0);
    expect(await page.title()).toBe("Weir");
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.goto(address);
    await title.click();
    await expect.poll(() => page.locator("h1").textContent()).toBe(`Short ${HOSTILE}`);
    await expect.poll(() => page.locator("#sweeps figure").count()).toBe(3);
    await page.locator("a > circle.dot").first().click();
    await expect.poll(() => page.locator("#run-title").textContent()).toContain("repetition 1");
    await page.goBack();
    await expect.poll(() => page.locator("#answer").isVisible()).toBe(true);
    await page.context().close();
  });

  it("stops a study that it started, and no other", async () => {
    const page = await open("/", 390);
    await page.getByRole("button", { name: "Start study" }).click();
    const stop = page.getByRole("button", { name: "Stop study" });
    await stop.waitFor({ timeout: 20_000 });
    await stop.click();
    await expect.poll(() => page.locator("#live").textContent(), { timeout: 50_000 }).toMatch(/stopped|failed/);
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(content).toBeLessThanOrEqual(window ?? 0);
    await page.context().close();
  });

  it("compares a result with another with the sentences of the command line", async () => {
    const names = ((await (await fetch(`${address}/api/results`)).json()) as { results: { name: string }[] }).results.map(({ name }) => name);
    const [name = ""] = names;
    const page = await open(`/#compare?${new URLSearchParams({ a: name, b: name }).toString()}`);
    await page.locator("#compare").waitFor();
    const result = join(folder, "results", name);
    const said = spawnCompare(result);
    const sentences = page.locator(".answers li > div > p:first-child");
    await sentences.first().waitFor();
    for (const sentence of await sentences.allTextContents()) {
      expect(said.replaceAll(/[`\u00a0]/g, " ")).toContain(sentence.replaceAll("\u00a0", " "));
    }
    await page.context().close();
  });

  it("draws a comparison over time once two results have it", async () => {
    const results = join(folder, "results");
    const names = readdirSync(results).filter((one) => existsSync(join(results, one, "result.sqlite")));
    const page = await open("/", 390);
    await page.locator(".result").first().waitFor();
    expect(await page.locator(".trend").count()).toBe(0);
    cpSync(join(results, names[0] ?? ""), join(results, "again"), { recursive: true });
    const trend = page.locator(".trend");
    await expect.poll(() => trend.count(), { timeout: 20_000 }).toBe(1);
    expect(await trend.locator("circle").count()).toBe(2);
    expect(await trend.locator("svg").getAttribute("aria-label")).toMatch(/threads 4 \/ 2, queries per second\. .*\dx/);
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(content).toBeLessThanOrEqual(window ?? 0);
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.locator(".search").fill("nothing like it");
    await expect.poll(() => trend.count()).toBe(0);
    rmSync(join(results, "again"), { recursive: true });
    await page.context().close();
  });

  it("asks for the token and opens with the right one only", async () => {
    const file = join(folder, "token");
    writeFileSync(file, "correct horse battery staple\n", { mode: 0o600 });
    const page = await open("/", 390, await serve("--token-file", file));
    const token = page.getByLabel("Token");
    await token.waitFor();
    expect(await page.locator("#history").count()).toBe(0);
    await token.fill("not this one");
    await page.getByRole("button", { name: "Open" }).click();
    await expect.poll(() => page.getByRole("alert").last().textContent()).toMatch(/token/);
    await token.fill("correct horse battery staple");
    await token.press("Enter");
    await page.locator("#history").waitFor();
    await page.reload();
    await page.locator("#history").waitFor();
    await page.context().close();
    // A refused request is an error of the network to Chromium's console, which tells of it in its own time.
    const others = complaints.filter((line) => !line.includes("status of 401"));
    expect(others.length).toBeLessThan(complaints.length);
    complaints = others;
  });

  it("lists what it cannot read with the reason, and says when its port is taken", async () => {
    const results = join(folder, "results");
    const [name = ""] = readdirSync(results).filter((one) => existsSync(join(results, one, "result.sqlite")));
    const whole = readFileSync(join(results, name, "result.sqlite"));
    for (const [damaged, content] of [["half", whole.subarray(0, whole.length / 2)], ["rubbish", Buffer.alloc(9000, "rubbish ")], ["nothing", Buffer.alloc(0)]] as const) {
      mkdirSync(join(results, damaged));
      writeFileSync(join(results, damaged, "result.sqlite"), content);
    }
    writeFileSync(join(results, "rubbish/progress.json"), '{"version": 1, "wri');
    const page = await open();
    const problems = page.locator(".result .caution");
    await expect.poll(() => problems.count(), { timeout: 20_000 }).toBe(3);
    for (const problem of await problems.allTextContents()) {
      expect(problem).toMatch(/^cannot read result .*\)/);
    }
    await page.locator(".result h3 a").first().waitFor();
    expect((await fetch(`${address}/report/half`)).status).toBe(500);
    expect((await fetch(`${address}/api/runs?result=${"a".repeat(100_000)}`)).status).toBe(414);
    const second = spawnSync(weir(), ["serve", results, "--listen", new URL(address).host], { encoding: "utf8" });
    expect(second.status).toBe(1);
    expect(second.stderr).toMatch(/cannot listen on .*--listen\n$/);
    await page.context().close();
  });

  it("leaves nothing running when it is killed while its study runs", { timeout: 120_000 }, async () => {
    complaints = [];
    const own = await serve();
    const server = servers.at(-1);
    const { page_secret } = (await (await fetch(`${own}/api/session`)).json()) as { page_secret: string };
    const headers = { "x-weir-page": page_secret, "content-type": "application/json" };
    const start = (): Promise<Response> => fetch(`${own}/api/studies/start`, { method: "POST", headers, body: '{"study":"short"}' });
    const answers = await Promise.all([start(), start(), start()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
    const loaded = async (): Promise<string> => (await fetch(`${own}/metrics`)).text();
    await expect.poll(loaded, { timeout: 60_000 }).toMatch(/^weir_run_queries_per_second\{.*\} [1-9]/m);
    const started = descendants(server?.pid ?? 0);
    // `weir run` and its server at least.
    expect(started.length).toBeGreaterThan(1);
    server?.kill("SIGKILL");
    const left = (): string[] => started.filter((pid) => existsSync(`/proc/${pid}`));
    await expect.poll(left, { timeout: 30_000 }).toEqual([]);
  });

  it("refuses foreign pages, foreign names and changes by reading", async () => {
    complaints = [];
    const stop = `${address}/api/studies/stop`;
    const { page_secret } = (await (await fetch(`${address}/api/session`)).json()) as { page_secret: string };
    const headers = { "x-weir-page": page_secret };
    expect((await fetch(stop, { method: "POST" })).status).toBe(403);
    expect((await fetch(stop, { method: "POST", headers: { ...headers, origin: "http://evil.example" } })).status).toBe(403);
    expect((await fetch(stop, { headers })).status).toBe(405);
    // A picture on a page elsewhere: it may not even make the server read.
    expect((await fetch(`${address}/api/results`, { headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" } })).status).toBe(403);
    // Nothing runs, so what is allowed to ask is told so.
    expect((await fetch(stop, { method: "POST", headers })).status).toBe(409);
    const metrics = await (await fetch(`${address}/metrics`)).text();
    expect(metrics).toMatch(/^weir_results \d+$/m);
    expect(metrics.endsWith("# EOF\n")).toBe(true);
  });
});

/** Processes that `pid` started, and those that they started. */
function descendants(pid: number): string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const parent = (of: string): number => {
    try {
      // pid (name) state ppid: a name may hold anything, so what counts stands behind the last parenthesis.
      return Number(readFileSync(`/proc/${of}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]);
    } catch {
      return 0; // It has ended.
    }
  };
  const children = processes.filter((of) => parent(of) === pid);
  return children.flatMap((child) => [child, ...descendants(Number(child))]);
}

/** What the command line says; exit code 3 means that a rule forbids a comparison. */
function spawnCompare(result: string): string {
  try {
    return execFileSync(weir(), ["compare", result, result], { encoding: "utf8" });
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? "");
  }
}
