// The distribution's Chromium, without network, sandbox or anything that phones home.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { chromium, type Browser, type Page } from "playwright-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function executable(): string {
  const named = process.env["CHROMIUM"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders
    .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
    .find((file) => existsSync(file));
  const chosen = named ?? found;
  if (chosen === undefined) {
    throw new Error("no Chromium in PATH; install the package `chromium` or set CHROMIUM to its program");
  }
  return chosen;
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: executable(), args: FLAGS });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core (WCAG 2.1, levels A and AA) has against the page as it is, a line each. */
export function accessibilityProblems(page: Page): Promise<string[]> {
  // In the browser's own world, which the page's policy does not bind.
  return page.evaluate(`(async () => {
    ${AXE};
    const { violations } = await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
    return violations.flatMap(({ id, help, nodes }) => nodes.slice(0, 3).map(({ target, failureSummary }) => [id, help, target.join(" "), failureSummary.split("\\n").slice(1, 2).join()].join(": ")));
  })()`);
}
