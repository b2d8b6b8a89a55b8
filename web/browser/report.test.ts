// The report in a real browser, from a file, without a network.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { accessibilityProblems, launch } from "./chromium.ts";
import { fixture, writeReport } from "./report-file.ts";

let browser: Browser;
let folder: string;
let complaints: string[];

beforeAll(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "weir-web-"));
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

afterEach(() => {
  expect(complaints).toEqual([]);
});

/** Opens a report; everything that the page complains about, or asks the network for, is kept. */
async function open(result: unknown = fixture(), options: BrowserContextOptions = {}): Promise<Page> {
  const file = join(folder, "report.html");
  writeReport(file, result);
  const context = await browser.newContext({ offline: true, viewport: { width: 1100, height: 900 }, ...options });
  const page = await context.newPage();
  complaints = [];
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(file|blob|data):/.test(request.url())) {
      complaints.push(`request: ${request.url()}`);
    }
  });
  await page.goto(pathToFileURL(file).href);
  // Sections are made one after the other; panels are drawn when they come near.
  await page.locator("#setup").waitFor();
  await page.locator(".plot").first().scrollIntoViewIfNeeded();
  await page.locator(".plot canvas").first().waitFor();
  return page;
}

/**
 * Whether any pixel of the first chart has the colour of `property`.
 *
 * Reads a copy: reading the chart's own canvas makes Chromium warn, and the page is to be silent.
 */
function drawn(page: Page, property: string): Promise<boolean> {
  return page.locator(".plot canvas").first().evaluate((element, name) => {
    const chart = element as HTMLCanvasElement;
    const copy = document.createElement("canvas");
    copy.width = chart.width;
    copy.height = chart.height + 1;
    const context = copy.getContext("2d", { willReadFrequently: true });
    if (context === null) {
      throw new Error("no canvas");
    }
    context.drawImage(chart, 0, 0);
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    context.fillRect(0, chart.height, 1, 1);
    const [red, green, blue] = context.getImageData(0, chart.height, 1, 1).data;
    const { data } = context.getImageData(0, 0, chart.width, chart.height);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) {
        return true;
      }
    }
    return false;
  }, property);
}

describe("a report", () => {
  it("shows the functions in which levels differ, and their flame graph as a picture", async () => {
    const page = await open();
    const picture = page.locator("#flames img").first();
    await picture.scrollIntoViewIfNeeded();
    // A picture that the page's policy refused, or that is no SVG, has no size.
    await expect.poll(() => picture.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBe(1200);
    expect(await page.locator("#flames table").first().textContent()).toContain("buf_flush_page_cleaner");
    await page.context().close();
  });

  it("answers in a reader's order, with the sentences that weir-report wrote", async () => {
    const page = await open();
    await page.locator("#flames").waitFor();
    expect(await page.title()).toContain("Doublewrite on two drives");
    expect(await page.locator("h2").allTextContents()).toEqual([
      "What is the answer?",
      "What follows from it?",
      "How sure is it, and why?",
      "What limited each combination?",
      "Was it steady?",
      "What did host and server do?",
      "What did the drive do?",
      "What has been published?",
      "How was it measured?",
      "In which functions?",
    ]);
    const answers = await page.locator(".answers p").allTextContents();
    const sentences = (fixture()["answers"] as { sentence: string }[]).map((answer) => answer.sentence);
    const plain = (text: string): string => text.replaceAll("\u00a0", " ").replaceAll("`", "");
    expect(answers.map(plain)).toEqual(sentences.map(plain));
    // First the advice, then the answers, then what could change them.
    const { advice, ranked } = fixture() as { advice: string; ranked: { could_change: { text: string }[] } };
    expect(plain((await page.locator("#answer p").first().textContent()) ?? "")).toBe(plain(`${advice}.`));
    const findings = await page.locator("#answer .findings p").allTextContents();
    expect(findings.map(plain)).toEqual(ranked.could_change.map((line) => plain(line.text)));
    await page.context().close();
  });

  it("says at its head where the data lay", async () => {
    const result = fixture() as { setup: { host: Record<string, string> } };
    const places = ["on disk: /var/tmp (ext4 on nvme0n1)", "on emulated drives, whose files lie in memory: /dev/shm (tmpfs)"];
    for (const place of places) {
      result.setup.host["data"] = place;
      const page = await open(result);
      expect(await page.locator("header .facts span").allTextContents()).toContain(`data ${place}`);
      await page.context().close();
    }
    // A server of the user's own: Weir does not know.
    delete result.setup.host["data"];
    const page = await open(result);
    expect(await page.locator("header .facts").textContent()).not.toContain("data ");
    await page.context().close();
  });

  it("shows values under the pointer and to the keyboard", async () => {
    const page = await open();
    const tooltip = page.locator(".tooltip");
    await page.locator("circle.dot").first().hover();
    await expect.poll(() => tooltip.textContent()).toMatch(/queries\/s.*repetition/);
    await page.mouse.move(2, 2);
    await expect.poll(() => tooltip.isVisible()).toBe(false);
    await page.locator("g.comparison").first().focus();
    await expect.poll(() => tooltip.textContent()).toContain("1.30x");
    await page.keyboard.press("Escape");
    await expect.poll(() => tooltip.isVisible()).toBe(false);

    const panel = page.locator(".panel").first();
    const before = await panel.locator(".reading").first().textContent();
    await panel.locator(".u-over").first().hover({ position: { x: 60, y: 40 } });
    await expect.poll(() => panel.locator(".when").textContent()).toMatch(/^at -?\d+ s$/);
    await expect.poll(() => panel.locator(".reading").first().textContent()).not.toBe(before);
    const other = page.locator(".panel").nth(1).locator(".when");
    await expect.poll(() => other.textContent()).toBe(await panel.locator(".when").textContent());
    await page.context().close();
  });

  it("hides what a legend's entry names, and shows it again", async () => {
    const page = await open();
    const line = page.locator(".panel").first().getByRole("button", { name: "repetition 1" });
    expect(await drawn(page, "--c0")).toBe(true);
    await line.click();
    await expect.poll(() => line.getAttribute("aria-pressed")).toBe("false");
    await expect.poll(() => drawn(page, "--c0")).toBe(false);
    await line.click();
    await expect.poll(() => drawn(page, "--c0")).toBe(true);

    const dots = page.locator("circle.dot.c1");
    await expect.poll(() => dots.count()).toBe(4);
    await page.locator(".legend").getByRole("button", { name: "repetition 2" }).click();
    await expect.poll(() => dots.count()).toBe(0);

    const bars = page.locator("rect.bar.k0");
    await expect.poll(() => bars.count()).toBe(8);
    await page.locator(".legend").getByRole("button", { name: "data", exact: true }).click();
    await expect.poll(() => bars.count()).toBe(0);
    await page.context().close();
  });

  it("saves the numbers of a figure as CSV", async () => {
    const page = await open();
    const fold = page.locator("details.data").nth(2);
    await fold.locator("summary").click();
    const [file] = await Promise.all([page.waitForEvent("download"), fold.locator(".download").click()]);
    expect(file.suggestedFilename()).toMatch(/throughput-and-latency-over-time\.csv$/);
    const lines = readFileSync(await file.path(), "utf8").trimEnd().split("\r\n");
    expect(lines[0]).toBe(
      "Combination,Repetition,Time since the measurement began [s],Throughput [queries/s],p99 latency [ms]",
    );
    expect(lines).toHaveLength(1 + 12 * 60);
    await page.context().close();
  });

  it.each(["light", "dark"] as const)("follows the reader's choice of %s", async (colorScheme) => {
    const page = await open(fixture(), { colorScheme });
    const brightness = await page.evaluate(() => {
      const [red = 0] = getComputedStyle(document.body).backgroundColor.match(/\d+/g)?.map(Number) ?? [];
      return red;
    });
    expect(brightness > 128).toBe(colorScheme === "light");
    expect(await drawn(page, "--c0")).toBe(true);
    await page.emulateMedia({ colorScheme: colorScheme === "light" ? "dark" : "light" });
    await expect.poll(() => drawn(page, "--c0")).toBe(true);
    await page.context().close();
  });

  it("fits a phone without scrolling sideways, folds opened", async () => {
    const page = await open(fixture(), { viewport: { width: 390, height: 844 } });
    await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
    await page.locator("details:last-of-type table").first().waitFor();
    const [content, window] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    expect(content).toBeLessThanOrEqual(window ?? 0);
    await page.context().close();
  });

  it("draws a hundred runs only as they come near, and prints panels that were not scrolled to", async () => {
    const result = fixture();
    const cells = result["cells"] as object[];
    const runs = result["runs"] as { cell: number }[];
    const copies = Array.from({ length: 9 }, (_, copy) => copy);
    result["cells"] = copies.flatMap(() => cells);
    result["runs"] = copies.flatMap((copy) => runs.map((run) => ({ ...run, cell: run.cell + copy * cells.length })));
    const page = await open(result);
    const panels = page.locator(".panel");
    await expect.poll(() => panels.count()).toBe(36);
    const canvases = page.locator(".plot canvas");
    expect(await canvases.count()).toBeLessThan(36);
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await expect.poll(() => canvases.count()).toBe(72);
    await page.context().close();
  });

  it.each(["result", "sweep"] as const)("prints %s on A4 without cutting anything off", async (name) => {
    // 210 mm less two margins of 12 mm, at 96 dots per inch.
    const page = await open(fixture(name), { viewport: { width: 703, height: 1000 } });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const cut = (): Promise<string[]> =>
      page.evaluate(() => {
        const beyond = [...document.querySelectorAll("main *")].filter((element) => element.getBoundingClientRect().right > innerWidth + 1);
        return beyond.map((element) => `${element.tagName} in ${element.closest("[aria-label]")?.getAttribute("aria-label") ?? "?"}`);
      });
    await expect.poll(cut).toEqual([]);
    await page.context().close();
  });

  it("opens a run's page from its dot, by pointer and by keyboard, and comes back", async () => {
    const page = await open();
    const dot = page.locator("a:has(> circle.dot)").first();
    await dot.focus();
    await page.keyboard.press("Enter");
    await page.locator("#run .plot canvas").first().waitFor();
    await expect.poll(() => page.locator("#run-title").textContent()).toContain("repetition 1");
    await expect.poll(() => page.locator("#answer").isVisible()).toBe(false);
    await page.locator("#run .u-over").first().hover({ position: { x: 60, y: 40 } });
    const panels = page.locator("#run .panel");
    expect(await panels.count()).toBeGreaterThan(2);
    const [first, second] = [panels.nth(0).locator(".when"), panels.nth(1).locator(".when")];
    await expect.poll(() => first.textContent()).toMatch(/^at /);
    await expect.poll(() => second.textContent()).toBe(await first.textContent());
    await page.getByRole("link", { name: "run after" }).click();
    await page.getByRole("link", { name: "All of the report" }).click();
    await page.locator("#answer").waitFor();
    await page.context().close();
  });

  it("shows bytes, operations and latency by kind of file", async () => {
    const page = await open();
    await page.getByRole("button", { name: "mean latency" }).click();
    // The figure is drawn anew in the next frame; those below it stay.
    await page.getByRole("group", { name: "Kinds of file" }).locator("rect.bar").first().focus();
    await expect.poll(() => page.locator(".tooltip").textContent()).toMatch(/\u00b5s/);
    await page.context().close();
  });

  it("keeps text with HTML in it text", async () => {
    const hostile = '<img src=x onerror="document.title=\'broken\'"></script><script>document.title="broken"</script>';
    const result = fixture();
    const answers = result["answers"] as Record<string, unknown>[];
    const cells = result["cells"] as Record<string, unknown>[];
    result["title"] = hostile;
    result["question"] = hostile;
    answers.forEach((answer) => Object.assign(answer, { sentence: hostile, what: hostile, context: hostile }));
    cells.forEach((cell) => Object.assign(cell, { label: hostile }));
    const page = await open(result);
    expect(await page.locator("h1").textContent()).toBe(hostile);
    expect(await page.locator("img:not(.flames)").count()).toBe(0);
    expect(await page.title()).not.toBe("broken");
    expect(await page.locator("script").count()).toBe(2);
    await page.context().close();
  });
});

describe("a report of a sweep with prices", () => {
  it("draws every figure that was published, with its data and its download", async () => {
    const page = await open(fixture("sweep"), { viewport: { width: 1100, height: 4000 } });
    const titles = await page.locator("figure h3").allTextContents();
    for (const title of [
      "Throughput against buffer pool",
      "p95 latency against buffer pool",
      "p99 latency against buffer pool",
      "Predicted throughput against buffer pool, 32 connections",
      "Throughput for money",
      "Throughput and latency over time",
      "Distribution of latency",
      "Processor time of the host",
      "InnoDB rows changed",
      "The drive by kind of file",
      "Write amplification",
    ]) {
      expect(titles).toContain(title);
    }
    const figures = page.locator("figure");
    const count = await figures.count();
    for (let index = 0; index < count; index += 1) {
      const figure = figures.nth(index);
      await figure.locator("details.data > summary").click();
      await figure.locator("details.data table tbody tr").first().waitFor();
      await figure.locator("details.data .download").waitFor();
    }
    const marks = await page.locator("#sweeps svg text.strong").allTextContents();
    expect(marks).toEqual(expect.arrayContaining(["A", "B", "C"]));
    await page.locator("#sweeps g.arrow").first().focus();
    await expect.poll(() => page.locator(".tooltip").textContent()).toMatch(/memory|pool/);
    await page.context().close();
  });

  it("says what money buys, and which offer is worse than another", async () => {
    const page = await open(fixture("sweep"));
    const bars = page.locator("#costs rect.bar");
    await expect.poll(() => bars.count()).toBe(4);
    await bars.last().focus();
    await expect.poll(() => page.locator(".tooltip").textContent()).toMatch(/worse than another: 4\.12 queries\/s per EUR/);
    await page.locator("#costs").getByRole("button", { name: "worse than another" }).click();
    await expect.poll(() => bars.count()).toBe(3);
    await page.context().close();
  });

  it("shows predictions as lines with their likely range, and what was measured as points", async () => {
    const page = await open(fixture("sweep"));
    const figure = page.locator("#predicted figure");
    await expect.poll(() => figure.locator("path.curve").count()).toBe(3);
    expect(await figure.locator("path.band").count()).toBe(3);
    // Six pools on three drives, and what was measured on one of them.
    expect(await figure.locator("path.dot").count()).toBe(24);
    await figure.locator("path.dot").last().focus();
    await expect.poll(() => page.locator(".tooltip").textContent()).toMatch(/transactions\/s measured/);
    await figure.getByRole("button", { name: "consumer-tlc" }).click();
    await expect.poll(() => figure.locator("path.curve").count()).toBe(2);
    expect(await page.locator("#predicted .prose").textContent()).toContain("teady state");
    await page.context().close();
  });

  it("marks and counts stalls", async () => {
    const page = await open(fixture("sweep"));
    const stalled = page.locator(".panel").nth(2);
    await stalled.scrollIntoViewIfNeeded();
    expect(await stalled.locator(".readout-row .reading:last-child").allTextContents()).toEqual(["1", "1", "1"]);
    await page.context().close();
  });
});

describe("a run in a report", () => {
  it("shows every probe on one axis, what was not measured, and variables before and after", async () => {
    const result = fixture();
    const runs = result["runs"] as { gaps: unknown[] }[];
    const page = await open();
    await page.evaluate((index) => (location.hash = `#run-${index + 1}`), runs.findIndex(({ gaps }) => gaps.length > 0));
    await page.locator("#run .plot canvas").first().waitFor();
    const groups = page.locator("#run details.group");
    expect(await groups.count()).toBe(5);
    await groups.nth(2).locator("summary").click();
    await groups.nth(2).locator("canvas").first().waitFor();
    await expect.poll(() => page.locator("#run").textContent()).toMatch(/Not measured.*server status/s);
    const changes = page.locator("#run table", { hasText: "Before the load" });
    expect(await changes.locator("tbody tr").first().textContent()).toContain("after the load");
    await page.context().close();
  });

  it("keeps HTML in the server's log and in names of tables text", async () => {
    const page = await open();
    await page.evaluate(() => (location.hash = "#run-1"));
    await page.getByText("Error log of the server").click();
    await expect.poll(() => page.locator("#run pre").first().textContent()).toContain("Table `</script><img src=x");
    expect(await page.locator("img:not(.flames)").count()).toBe(0);
    expect(await page.title()).not.toBe("broken");
    await page.context().close();
  });
});

describe("anybody", () => {
  it.each([
    ["light", "result"],
    ["dark", "sweep"],
  ] as const)("can read the report: %s, %s", { timeout: 120_000 }, async (colorScheme, name) => {
    const page = await open(fixture(name), { colorScheme });
    await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.evaluate(() => (location.hash = "#run-1"));
    await page.locator("#run .plot canvas").first().waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
    await page.context().close();
  });

  it("moves through the page by keyboard in the order of reading", async () => {
    const page = await open();
    const order: number[] = [];
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press("Tab");
      order.push(await page.evaluate(() => (document.activeElement?.getBoundingClientRect().top ?? 0) + scrollY));
    }
    // Within a row of buttons or points the height may differ a little.
    for (const [index, top] of order.entries()) {
      expect(top).toBeGreaterThan((order[index - 1] ?? 0) - 400);
    }
    expect(order.at(-1)).toBeGreaterThan(order[0] ?? 0);
    await page.context().close();
  });
});

describe("a file that holds no usable result", () => {
  it("says what is wrong and what to do", async () => {
    const file = join(folder, "broken.html");
    writeReport(file, { title: "of another version" });
    const page = await browser.newPage();
    await page.goto(pathToFileURL(file).href);
    const text = await page.locator(".failure").textContent();
    expect(text).toContain("could not be read");
    expect(text).toContain("weir report");
    await page.close();
  });
});
