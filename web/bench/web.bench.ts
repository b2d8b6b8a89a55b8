// What a reader waits for, in a real browser: a report of 100 runs from its file, and `weir serve` over
// results of 2,000 runs and 10 million samples. `lab/bench-web.sh` makes both and calls this.
//
// Nothing is asserted but that each interaction ends: speed is written down, not tested.

import { spawn } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, it } from "vitest";
import { launch } from "../browser/chromium.ts";

/** Of an interaction; of an opening fewer. */
const REPEATS = 20;
const OPENINGS = 7;
const folder = process.env["WEIR_BENCH"] ?? "";
const weir = process.env["WEIR"] ?? "weir";

interface Row {
  what: string;
  p50_ms: number;
  p95_ms: number;
  worst_ms: number;
  all_ms: number[];
}

let browser: Browser;
const rows: Row[] = [];
const sizes: Record<string, number> = {};

function note(what: string, times: number[]): void {
  const sorted = times.toSorted((a, b) => a - b).map((time) => Math.round(time * 10) / 10);
  const quantile = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? NaN;
  const [p50_ms, p95_ms, worst_ms] = [quantile(0.5), quantile(0.95), quantile(1)];
  rows.push({ what, p50_ms, p95_ms, worst_ms, all_ms: sorted });
  console.log(`${what}: p50 ${p50_ms} ms, p95 ${p95_ms} ms, worst ${worst_ms} ms (${sorted.length})`);
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
  }, OPENINGS);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  await page.goto(pathToFileURL(file).href);
  await page.locator("a:has(> circle.dot)").first().waitFor();
  let run = 0;
  await several("report of 100 runs: open a run's page", () => interaction(page, `const before = document.querySelector("#run-title"); location.hash = "#run-${(run += 1)}"`, `document.querySelector("#run-title") !== before && document.querySelectorAll("#run .plot canvas").length > 1`));
  await pointAndHide(page, "report of 100 runs");
  await several("report of 100 runs: zoom into a run", () => zoom(page, async () => {}));
  await page.evaluate(`location.hash = ""`);
  await page.locator("#limits").waitFor();
  await several("report of 100 runs: hide a part of a bar figure", () => interaction(page, `document.querySelector("#resources .legend button").click()`, "true"));
  await several("report of 100 runs: open the data of a figure", () => interaction(page, `const fold = [...document.querySelectorAll("details.data")].find((one) => !one.open); fold.open = true`, `[...document.querySelectorAll("details.data[open]")].every((one) => one.querySelector("table") !== null)`), OPENINGS);
  await page.close();
});

/** The pointer over a run's curves, and a curve hidden and shown. */
async function pointAndHide(page: Page, where: string): Promise<void> {
  let at = 0;
  await several(`${where}: point at a run's curves`, () =>
    interaction(
      page,
      `const over = document.querySelector("#run .u-over"); const box = over.getBoundingClientRect(); const when = document.querySelector("#run .when"); const before = when.textContent;
       over.dispatchEvent(new MouseEvent("mousemove", { clientX: box.left + ${20 + ((at += 1) % 10) * 30}, clientY: box.top + 40, bubbles: true }))`,
      "when.textContent !== before",
    ),
  );
  await several(`${where}: hide a series of a run`, () => interaction(page, `document.querySelector("#run .entry button, #run button.entry").click()`, "true"));
}

/** Drags over the middle of the first curve; `answered` waits for what the page asks for. */
async function zoom(page: Page, answered: () => Promise<void>): Promise<number> {
  const box = await page.locator("#run .u-over").first().boundingBox();
  if (box === null) {
    throw new Error("no chart");
  }
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + 40);
  const from = performance.now();
  const waiting = answered();
  await page.mouse.up();
  await waiting;
  await page.evaluate("new Promise((next) => requestAnimationFrame(() => setTimeout(next)))");
  const time = performance.now() - from;
  await page.locator("#run .u-over").first().dblclick();
  await page.waitForTimeout(300);
  return time;
}

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
    return interaction(page, `location.hash = "#runs?result=large-a"`, `document.querySelectorAll("#runs tbody tr").length > 40`);
  });
  let letter = 0;
  await several("search the runs: a key stroke", () =>
    interaction(page, `const box = document.querySelector("#runs .search"); box.value = ${JSON.stringify(["ON", "threads", "p4610", "64", ""][(letter += 1) % 5])}; box.dispatchEvent(new Event("input"))`, "true"),
  );
  let one = 0;
  const run = (): string => `#run?result=large-a&cell=${(one += 1) % 200}&repetition=${1 + (one % 10)}`;
  const drawn = `document.querySelectorAll("#run .plot canvas").length > 1`;
  await several("open a run", async () => {
    await page.evaluate(`location.hash = "#runs?result=large-a"`);
    await page.locator("#runs").waitFor();
    return interaction(page, `location.hash = ${JSON.stringify(run())}`, drawn);
  });
  await pointAndHide(page, "weir serve");
  await several("zoom into a run", () =>
    zoom(page, async () => {
      const answer = await page.waitForResponse((response) => response.url().includes("/api/run"));
      await answer.finished();
    }),
  );
  await several("open a fold of a run's curves", () => interaction(page, `const fold = [...document.querySelectorAll("#run details.group")].find((one) => !one.open) ?? document.querySelector("#run details.group"); fold.open = true`, `[...document.querySelectorAll("#run details.group[open]")].at(-1)?.querySelector(".panel") != null`), 4);
  await several("sort the runs (2,000)", async () => {
    if ((await page.locator("#runs").count()) === 0) {
      await page.evaluate(`location.hash = "#runs?result=large-a"`);
      await page.locator("#runs tbody tr").first().waitFor();
    }
    return interaction(page, `document.querySelectorAll("#runs th button")[2].click()`, "true");
  });
  for (const path of ["runs?result=large-a", "compare?a=large-a&b=large-b"]) {
    await several(`GET /api/${path}`, async () => {
      const from = performance.now();
      const text = await (await fetch(`${address}/api/${path}`)).text();
      sizes[`/api/${path}, bytes`] = text.length;
      return performance.now() - from;
    });
  }
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
    }, OPENINGS);
  }
  await page.goto(`${address}/report/large-a`);
  await untilFirstFigure(page);
  await several("hide a repetition in the report of 2,000 runs", () => interaction(page, `document.querySelector("#answer .legend button").click()`, "true"));
  await page.close();
}
