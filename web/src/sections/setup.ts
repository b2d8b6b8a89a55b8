// The set-up: all that is needed to run the study again, and to doubt it.

import { fold, h } from "../dom";
import { downloadButton } from "../figure";
import { count } from "../format";
import { middle, type Page } from "../page";
import { show, table, type Column } from "../table";
import { section } from "./section";

export function setup(page: Page): HTMLElement {
  const { facts, host } = page.setup;
  const hostFacts = Object.entries(host).map(([label, text]) => ({ label: capital(label), text }));
  return section(
    "setup",
    "How was it measured?",
    h(
      "dl",
      { class: "setup" },
      ...[...facts, ...hostFacts].map(({ label, text }) => h("div", {}, h("dt", {}, label), h("dd", {}, text))),
    ),
    studyVariables(page),
    drives(page),
    counters(page),
    changed(page),
    differing(page),
    shared(page),
  );
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function folded(page: Page, title: string, columns: readonly Column[], note: string, open = false): HTMLElement | null {
  if ((columns[0]?.values.length ?? 0) === 0) {
    return null;
  }
  return fold({ class: "fold", open }, title, () => [
    h("p", { class: "note" }, note),
    table(columns, title),
    downloadButton(page.title, title, () => columns),
  ]);
}

/** Variables that the study sets: in all combinations, and in each. */
function studyVariables(page: Page): HTMLElement | null {
  const common = Object.entries(page.setup.variables).map(([name, value]) => ({ where: "all combinations", name, value }));
  const own = page.cells.flatMap((cell) =>
    Object.entries(cell.variables).map(([name, value]) => ({ where: cell.label, name, value })),
  );
  const rows = [...common, ...own];
  return folded(
    page,
    "Variables that the study sets",
    [
      { title: "Variable", values: rows.map(({ name }) => name) },
      { title: "Value", values: rows.map(({ value }) => value) },
      { title: "Where", values: rows.map(({ where }) => where) },
    ],
    "Sizes are after scaling.",
    true,
  );
}

function drives(page: Page): HTMLElement | null {
  const rows = page.setup.drives.flatMap((drive) => [
    ...drive.figures.map(({ label, text, source }) => ({ drive: drive.title, label, text, source: source as string | null })),
    ...Object.entries(drive.other_sources).map(([key, source]) => ({ drive: drive.title, label: key, text: null, source })),
  ]);
  return folded(
    page,
    "Drive profiles",
    [
      { title: "Drive", values: rows.map(({ drive }) => drive) },
      { title: "Figure", values: rows.map(({ label }) => label) },
      { title: "Value", values: rows.map(({ text }) => text) },
      { title: "Source", values: rows.map(({ source }) => source) },
    ],
    "At full size, before the scale of the drives.",
  );
}

function counters(page: Page): HTMLElement | null {
  return folded(
    page,
    "What server, host and drive counted",
    [
      { title: "Quantity", values: page.counters.map(({ title }) => title) },
      { title: "Unit", values: page.counters.map(({ unit }) => unit) },
      ...page.cells.map((cell, index) => ({
        title: cell.label,
        values: page.counters.map(({ by_cell }) => middle(by_cell[index])),
        show: show.each,
      })),
    ],
    "Rates and means during the measurement, medians over the repetitions.",
  );
}

function changed(page: Page): HTMLElement | null {
  const rows = page.variables.changed;
  return folded(
    page,
    `Variables that changed during a run (${rows.length})`,
    [
      { title: "Variable", values: rows.map(({ name }) => name) },
      { title: "Before the load", values: rows.map(({ before }) => before) },
      { title: "After the load", values: rows.map(({ after }) => after) },
      { title: "In", values: rows.map(({ runs }) => count(runs, "run")) },
    ],
    "The server itself changed these, so they were not the same from beginning to end.",
  );
}

function differing(page: Page): HTMLElement | null {
  const rows = page.variables.differing;
  return folded(
    page,
    `Variables that differ between runs (${rows.length})`,
    [
      { title: "Variable", values: rows.map(({ name }) => name) },
      ...page.cells.map((cell, index) => ({
        title: cell.label,
        values: rows.map(({ by_cell }) => by_cell[index] ?? null),
      })),
    ],
    "What the server reported before the load. Anything here that is neither a factor nor a path is a reason for doubt.",
  );
}

function shared(page: Page): HTMLElement | null {
  const rows = Object.entries(page.variables.shared);
  return folded(
    page,
    `Variables that are the same in all runs (${rows.length})`,
    [
      { title: "Variable", values: rows.map(([name]) => name) },
      { title: "Value", values: rows.map(([, value]) => value) },
    ],
    "What the server reported before the load.",
  );
}
