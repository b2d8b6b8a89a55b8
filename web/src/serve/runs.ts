// The runs of a result, and one of them closely: its curves come from the server as finely as the
// screen can show them, also after zooming.

import { h } from "../dom";
import { count, moment } from "../format";
import { runDetails, runHead, runPanels, timelineData } from "../run-view";
import { show, table } from "../table";
import { api, reportAddress, type RunLine } from "./api";

const runAddress = (result: string, run: RunLine): string =>
  `#run?${new URLSearchParams({ result, cell: String(run.cell), repetition: String(run.repetition) }).toString()}`;

/** A line per run, filtered as one types. */
export async function runsView(parameters: URLSearchParams): Promise<HTMLElement> {
  const result = parameters.get("result") ?? "";
  const { title, runs } = await api.runs(result);
  const body = h("div", { class: "results" });
  const search = h("input", { type: "search", class: "search", placeholder: "Search combination or limiter", "aria-label": "Search runs" });
  const draw = (): void => {
    const wanted = search.value.toLowerCase();
    const found = runs.filter((run) => `${run.label} ${run.limiter}`.toLowerCase().includes(wanted));
    body.replaceChildren(
      h("p", { class: "note", role: "status" }, found.length > SHOWN ? `${SHOWN} of ${count(found.length, "run")}` : count(found.length, "run")),
      runTable(result, found.slice(0, SHOWN)),
    );
  };
  search.addEventListener("input", draw);
  draw();
  return h(
    "section",
    { id: "runs", "aria-labelledby": "runs-title" },
    h("h2", { id: "runs-title" }, `Runs of ${title}`),
    h("p", { class: "note" }, h("a", { href: reportAddress(result) }, "Report of this result")),
    h("div", { class: "bar" }, search),
    body,
  );
}

/** What a panel can tell apart, pixels. */
const PANEL_WIDTH = 480;

/** Rows that are drawn at once. */
const SHOWN = 200;

function runTable(result: string, runs: readonly RunLine[]): HTMLElement {
  const element = table(
    [
      { title: "Combination", values: runs.map(({ label }) => label) },
      { title: "Repetition", values: runs.map(({ repetition }) => repetition), show: show.integers },
      { title: "Throughput", unit: "queries/s", values: runs.map((run) => run.queries_per_s) },
      { title: "p99 latency", unit: "ms", values: runs.map((run) => run.latency_ms_p99) },
      { title: "Limited by", values: runs.map(({ limiter }) => limiter) },
      { title: "Started", values: runs.map((run) => moment(run.started_at)) },
    ],
    "Runs",
  );
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
