// What a reader waits for, in a real browser: a report of 100 runs from its file, and `weir serve` over
// results of 2,000 runs and 10 million samples. `scripts/bench-web.sh` makes both and calls this.
//
// Nothing is asserted but that each interaction ends: speed is written down, not tested.

import { spawn } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, it } from "vitest";
import { launch } from "../browser/chromium.ts";

const REPEATS = 7;
const folder = process.env["WEIR_BENCH"] ?? "";
const weir = process.env["WEIR"] ?? "weir";

interface Row {
  what: string;
  median_ms: number;
  worst_ms: number;
  all_ms: number[];
}

let browser: Browser;
const rows: Row[] = [];
const sizes: Record<string, number> = {};

function note(what: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b).map((time) => Math.round(time * 10) / 10);
  rows.push({ what, median_ms: sorted[sorted.length >> 1] ?? NaN, worst_ms: sorted.at(-1) ?? NaN, all_ms: sorted });
  console.log(`${what}: median ${sorted[sorted.length >> 1]} ms, worst ${sorted.at(-1)} ms`);
}

/** Runs in the page: `act`, then waits until `done` holds and is on the screen. */
async function interaction(page: Page, act: string, done: string): Promise<number> {
  return page.evaluate(`(async () => {
    const began = performance.now();
    ${act};
    while (!(${done})) {
      await new Promise((next) => requestAnimationFrame(next));
    }
    await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
    return performance.now() - began;
  })()`);
}

/** From the navigation to the first figure on the screen, in a page that has just been told to open it. */
async function untilFirstFigure(page: Page): Promise<number> {
  return page.evaluate(`(async () => {
    while (document.querySelector("figure svg") === null) {
      await new Promise((next) => requestAnimationFrame(next));
    }
    await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
    return performance.now();
  })()`);
}

async function several(what: string, measure: () => Promise<number>, repeats = REPEATS): Promise<void> {
  const times: number[] = [];
  for (let turn = 0; turn < repeats; turn += 1) {
    times.push(await measure());
  }
  note(what, times);
}

beforeAll(async () => {
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  writeFileSync(join(folder, "bench-web.json"), `${JSON.stringify({ sizes, rows }, null, 1)}\n`);
});

it("opens the report of 100 runs from its file", async () => {
  const file = join(folder, "hundred/report.html");
  sizes["report of 100 runs, bytes"] = statSync(file).size;
  await several("report of 100 runs: from the navigation to the first figure", async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href, { waitUntil: "commit" });
    const time = await untilFirstFigure(page);
    await context.close();
    return time;
  });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(pathToFileURL(file).href);
  await page.locator("a:has(> circle.dot)").first().waitFor();
  let run = 0;
  await several("report of 100 runs: open a run's page", () => interaction(page, `location.hash = "#run-${(run += 1)}"`, `document.querySelector("#run .plot canvas") !== null && document.querySelector("#run-title") !== null`));
  await page.close();
});

it("answers in weir serve", async () => {
  const results = join(folder, "results");
  sizes["results"] = readdirSync(results).length;
  sizes["large result, bytes"] = statSync(join(results, "large-a/result.sqlite")).size;
  const server = spawn(weir, ["serve", results, "--studies", join(folder, "studies"), "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  const address = await new Promise<string>((resolve, reject) => {
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
  try {
    await measureServe(address);
  } finally {
    server.kill("SIGTERM");
  }
});

async function measureServe(address: string): Promise<void> {
  const began = performance.now();
  // The first look judges all results; from then on they are known.
  for (;;) {
    const { results } = (await (await fetch(`${address}/api/results`)).json()) as { results: { headline: string; problem: string | null }[] };
    if (results.every(({ headline, problem }) => headline !== "" || problem !== null)) {
      break;
    }
    await new Promise((next) => setTimeout(next, 200));
  }
  note("all results judged after the start (once, meanwhile everything is answered)", [performance.now() - began]);

  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(address);
  await page.locator(".result").first().waitFor();
  const words = ["first", "many", "mysql", "scaleflux", "nothing like it", "P4610", ""];
  let word = 0;
  await several("search the results: a key stroke", () => {
    const text = words[(word += 1) % words.length] ?? "";
    return interaction(page, `const box = document.querySelector(".search"); box.value = ${JSON.stringify(text)}; box.dispatchEvent(new Event("input"))`, "true");
  });
  await several("open the history", async () => {
    await page.evaluate(`location.hash = "#runs?result=large-a"`);
    await page.locator("#runs").waitFor();
    return interaction(page, `location.hash = ""`, `document.querySelector("#history .result") !== null`);
  });
  await several("list the runs of a result (2,000)", async () => {
    await page.evaluate(`location.hash = ""`);
    await page.locator("#history").waitFor();
    return interaction(page, `location.hash = "#runs?result=large-a"`, `document.querySelectorAll("#runs tbody tr").length > 100`);
  });
  let letter = 0;
  await several("search the runs: a key stroke", () =>
    interaction(page, `const box = document.querySelector("#runs .search"); box.value = ${JSON.stringify(["ON", "threads", "p4610", "64", ""][(letter += 1) % 5])}; box.dispatchEvent(new Event("input"))`, "true"),
  );
  let repetition = 0;
  const run = (): string => `#run?result=large-a&cell=${repetition % 7}&repetition=${1 + (repetition += 1)}`;
  const drawn = `document.querySelectorAll("#run .plot canvas").length > 1`;
  await several("open a run", async () => {
    await page.evaluate(`location.hash = "#runs?result=large-a"`);
    await page.locator("#runs").waitFor();
    return interaction(page, `location.hash = ${JSON.stringify(run())}`, drawn);
  });
  await several("hide a series of a run", () => interaction(page, `document.querySelectorAll("#run .entry button")[1].click()`, "true"));
  await several("zoom into a run", async () => {
    const box = await page.locator("#run .u-over").first().boundingBox();
    if (box === null) {
      throw new Error("no chart");
    }
    const answered = page.waitForResponse((response) => response.url().includes("/api/run"));
    await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 40);
    const from = performance.now();
    await page.mouse.up();
    await (await answered).finished();
    await page.evaluate("new Promise((next) => requestAnimationFrame(() => setTimeout(next)))");
    const time = performance.now() - from;
    await page.locator("#run .u-over").first().dblclick();
    await page.waitForTimeout(300);
    return time;
  });
  await several("open a fold of a run's curves", () => interaction(page, `const fold = [...document.querySelectorAll("#run details.group")].find((one) => !one.open) ?? document.querySelector("#run details.group"); fold.open = true`, `[...document.querySelectorAll("#run details.group[open]")].at(-1)?.querySelector(".panel") != null`), 4);
  await several("compare two results of 2,000 runs each", async () => {
    await page.evaluate(`location.hash = ""`);
    await page.locator("#history").waitFor();
    return interaction(page, `location.hash = "#compare?a=large-a&b=large-b"`, `document.querySelector("#compare .answers li") !== null`);
  });
  for (const name of ["large-a", "small-001"]) {
    await several(`open the report of ${name}: from the navigation to the first figure`, async () => {
      await page.goto(address);
      await page.locator(".result").first().waitFor();
      await page.goto(`${address}/report/${name}`, { waitUntil: "commit" });
      return untilFirstFigure(page);
    });
  }
  await several("hide a repetition in the report of 2,000 runs", () => interaction(page, `document.querySelector("#answer .legend button").click()`, "true"));
  await page.close();
}
