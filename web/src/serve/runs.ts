// The runs of a result, and one of them closely: its curves come from the server as finely as the
// screen can show them, also after zooming.

import { h } from "../dom";
import { count, moment } from "../format";
import { runDetails, runHead, runPanels, timelineData } from "../run-view";
import { show, table, type Column, type Value } from "../table";
import { api, reportAddress, type RunLine } from "./api";

const runAddress = (result: string, run: RunLine): string =>
  `#run?${new URLSearchParams({ result, cell: String(run.cell), repetition: String(run.repetition) }).toString()}`;

/** A line per run, filtered as one types. */
export async function runsView(parameters: URLSearchParams): Promise<HTMLElement> {
  const result = parameters.get("result") ?? "";
  const { title, runs } = await api.runs(result);
  const body = h("div", { class: "results" });
  let order: Order = null;
  let shown = ROWS;
  const more = h("button", { type: "button", class: "download" }, "Show more");
  const search = h("input", { type: "search", class: "search", placeholder: "Search combination or bottleneck", "aria-label": "Search runs" });
  const draw = (): void => {
    const wanted = search.value.toLowerCase();
    const found = runs.filter((run) => `${run.label} ${run.bottleneck}`.toLowerCase().includes(wanted));
    body.replaceChildren(
      h("p", { class: "note", role: "status" }, found.length > shown ? `${shown} of ${count(found.length, "run")}` : count(found.length, "run")),
      runTable(result, sorted(found, order).slice(0, shown), order, (chosen, column) => {
        order = chosen;
        draw();
        body.querySelectorAll<HTMLElement>("thead button")[column]?.focus();
      }),
    );
    more.hidden = found.length <= shown;
  };
  search.addEventListener("input", () => {
    shown = ROWS;
    draw();
  });
  more.addEventListener("click", () => {
    shown += 4 * ROWS;
    draw();
  });
  draw();
  return h(
    "section",
    { id: "runs", "aria-labelledby": "runs-title" },
    h("h2", { id: "runs-title" }, `Runs of ${title}`),
    h("p", { class: "note" }, h("a", { href: reportAddress(result) }, "Report of this result")),
    h("div", { class: "bar" }, search),
    body,
    more,
  );
}

/** What a panel can tell apart, pixels. */
const PANEL_WIDTH = 480;

/** Rows that are drawn at once, more than a screen has room for; more on demand. */
const ROWS = 50;

type Key = "label" | "repetition" | "queries_per_s" | "latency_ms_p99" | "bottleneck" | "started_at";

const COLUMNS: readonly (Omit<Column, "values"> & { key: Key })[] = [
  { key: "label", title: "Combination" },
  { key: "repetition", title: "Repetition", show: show.integers },
  { key: "queries_per_s", title: "Throughput", unit: "queries/s" },
  { key: "latency_ms_p99", title: "p99 latency", unit: "ms" },
  { key: "bottleneck", title: "Limited by" },
  { key: "started_at", title: "Started" },
];

/** The column that the runs are sorted by; `null`: as they were made. */
type Order = { key: Key; descending: boolean } | null;

/** `runs` in `order`; what was not measured stands last. */
export function sorted(runs: readonly RunLine[], order: Order): readonly RunLine[] {
  if (order === null) {
    return runs;
  }
  const { key, descending } = order;
  return runs.toSorted((a, b) => {
    const [one, other] = [a[key], b[key]];
    if (one === null || other === null) {
      return Number(one === null) - Number(other === null);
    }
    const rising = typeof one === "number" && typeof other === "number" ? one - other : byNumbers.compare(String(one), String(other));
    return descending ? -rising : rising;
  });
}

/** 8 connections before 16. */
const byNumbers = new Intl.Collator("en", { numeric: true });

function runTable(result: string, runs: readonly RunLine[], order: Order, sort: (order: Order, column: number) => void): HTMLElement {
  const value = (run: RunLine, key: Key): Value => (key === "started_at" ? moment(run.started_at) : run[key]);
  const element = table(COLUMNS.map(({ key, ...column }) => ({ ...column, values: runs.map((run) => value(run, key)) })), "Runs");
  element.querySelectorAll("thead th").forEach((head, index) => {
    const key = COLUMNS[index]?.key ?? "label";
    const [up, down] = [order?.key === key && !order.descending, order?.key === key && order.descending];
    const button = h("button", { type: "button" }, ...head.childNodes, h("span", { "aria-hidden": "true" }, up ? "\u2191" : down ? "\u2193" : ""));
    // Up, down, as they were made.
    button.addEventListener("click", () => sort(down ? null : { key, descending: up }, index));
    head.setAttribute("aria-sort", up ? "ascending" : down ? "descending" : "none");
    head.replaceChildren(button);
  });
  element.querySelectorAll("tbody th").forEach((cell, index) => {
    const run = runs[index];
    if (run !== undefined) {
      cell.replaceChildren(h("a", { href: runAddress(result, run) }, run.label));
    }
  });
  return element;
}

/** One run. */
export async function runView(parameters: URLSearchParams): Promise<HTMLElement> {
  const result = parameters.get("result") ?? "";
  const of = { result, cell: parameters.get("cell") ?? "", repetition: parameters.get("repetition") ?? "" };
  const points = Math.max(100, Math.min(PANEL_WIDTH, innerWidth));
  const run = await api.run({ ...of, points });
  let timeline = run.timeline;
  // The last zoom wins, whatever order the answers come in.
  let asked = 0;
  const zoom = (window: Record<string, number>): void => {
    asked += 1;
    const mine = asked;
    api.run({ ...of, points, ...window }).then(
      (zoomed) => {
        if (mine === asked) {
          timeline = zoomed.timeline;
          panels.set(timeline);
        }
      },
      () => {},
    );
  };
  const panels = runPanels(run.panels, timeline, {
    key: "run",
    onZoom: (from, to) => zoom({ from, to }),
    onReset: () => zoom({}),
  });
  return h(
    "section",
    { id: "run", "aria-labelledby": "run-title" },
    h("h2", { id: "run-title" }, `${run.label}, repetition ${run.repetition}`),
    ...runHead(run, h("a", { href: `#runs?${new URLSearchParams({ result }).toString()}` }, run.title)),
    h("p", { class: "note" }, "Drag over a curve to zoom, double-click to go back; click a name to hide its curve. Shaded: the warm-up. A band runs from the smallest to the largest value where several share a point."),
    panels.element,
    timelineData(run.title, run.panels, () => timeline),
    ...runDetails(run, run.variables),
  );
}
