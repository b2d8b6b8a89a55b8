// A report as weir-report makes it: the built page with the fixture's JSON in its slot.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const SLOT = '<script type="application/json" id="weir-result">';

/** A fixture, to be changed by a test: `result` of four combinations, `sweep` of buffer pools. */
export function fixture(name: "result" | "sweep" = "result"): Record<string, unknown> {
  return JSON.parse(readFileSync(path(`../fixtures/${name}.json`), "utf8")) as Record<string, unknown>;
}

/** Writes the report of `result` to `file`. Text is escaped as crates/weir-report/src/html.rs does. */
export function writeReport(file: string, result: unknown): void {
  const template = readFileSync(path("../dist/report.html"), "utf8");
  const json = JSON.stringify(result).replaceAll("<", "\\u003c");
  writeFileSync(file, template.replace(SLOT, () => SLOT + json));
}
