// The page of one run inside a report, under an address of its own: #run-3 is the third run made.

import { h } from "./dom";
import { number } from "./format";
import type { Page } from "./page";
import { runDetails, runHead, runPanels, timelineData } from "./run-view";

/** Address of the run at `index` of the page's runs. */
export const runAddress = (index: number): string => `#run-${index + 1}`;

/** Index of the run that the address names; `null` for all others. */
export function runOfAddress(hash: string, runs: number): number | null {
  const index = Number(/^#run-(\d+)$/.exec(hash)?.[1] ?? NaN) - 1;
  return index >= 0 && index < runs ? index : null;
}

export function runPage(page: Page, index: number): HTMLElement | null {
  const run = page.runs[index];
  const timeline = page.timelines.runs[index];
  if (run === undefined || timeline === undefined) {
    return null;
  }
  const label = page.cells[run.cell]?.label ?? "";
  const { panels } = page.timelines;
  const variables = {
    ...page.variables.shared,
    ...Object.fromEntries(page.variables.differing.map(({ name, by_cell }) => [name, by_cell[run.cell] ?? ""])),
  };
  const others = page.runs.length;
  const neighbour = (to: number, text: string): HTMLElement | null => (to < 0 || to >= others ? null : h("a", { href: runAddress(to) }, text));
  const leftOut = page.timelines.panels_left_out;
  const more = leftOut === 0 ? "" : ` A report of ${others} runs has no room for ${leftOut} more panels; \u201cweir serve\u201d shows them.`;
  return h(
    "section",
    { id: "run", "aria-labelledby": "run-title" },
    h("p", { class: "facts" }, h("a", { href: "#" }, "\u2190 All of the report"), neighbour(index - 1, "run before"), neighbour(index + 1, "run after")),
    h("h2", { id: "run-title", tabindex: -1 }, `${label}, repetition ${run.repetition}`),
    ...runHead(run, h("span", {}, `run ${index + 1} of ${others}`)),
    h("p", { class: "note" }, `Each point is the mean of ${number(timeline.step_s)} s. Drag over a curve to zoom, double-click to go back; click a name to hide its curve. Shaded: the warm-up${run.events.length === 0 ? "" : " and the events"}.${more}`),
    runPanels(panels, timeline, { key: "run", spans: run.events }).element,
    timelineData(page.title, panels, () => timeline),
    ...runDetails(run, variables),
  );
}
