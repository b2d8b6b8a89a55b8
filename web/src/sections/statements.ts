// Two arms of a replay by kind of statement.

import { h } from "../dom";
import type { Page } from "../page";
import { table } from "../table";
import { section } from "./section";

export function statements(page: Page): HTMLElement | null {
  if (page.statements.length === 0) {
    return null;
  }
  return section(
    "statements",
    "Which statements got slower?",
    ...page.statements.flatMap(({ what, fidelity, counts, rows }) => [
      h("h3", {}, what),
      h("p", {}, counts),
      ...fidelity.map((line) => h("p", { class: "note" }, line)),
      table(
        [
          { title: "Time", values: rows.map((row) => row.verdict), strong: (value) => String(value).startsWith("surely") },
          { title: "Ratio", unit: "95 %", values: rows.map((row) => row.ratio) },
          { title: "p99", values: rows.map((row) => row.p99_ratio) },
          { title: "Baseline", unit: "ms", values: rows.map((row) => row.baseline_ms) },
          { title: "Level", unit: "ms", values: rows.map((row) => row.level_ms) },
          { title: "Share", values: rows.map((row) => row.share) },
          { title: "What differs", values: rows.map((row) => row.why) },
          { title: "Statement", values: rows.map((row) => row.statement) },
        ],
        `Statements: ${what}`,
      ),
    ]),
    h("p", { class: "note" }, page.statement_note),
  );
}
