// A run closely: every probe on one axis of time, then commands and variables.

import { curvePanel, type PanelData, type PanelHead, type PanelOptions } from "./curves";
import { fold, h } from "./dom";
import { downloadButton } from "./figure";
import { table, type Column } from "./table";

type Curves = readonly (readonly (readonly (number | null)[])[])[];

/** Curves of a run by panel and series, in buckets of equal length. */
export interface Timeline {
  start_s: number;
  step_s: number;
  mean: Curves;
  low?: Curves | undefined;
  high?: Curves | undefined;
}

/** The panels of a run on one axis, and what gives them other curves. */
export function runPanels(
  heads: readonly PanelHead[],
  first: Timeline,
  options: PanelOptions,
): { element: HTMLElement; set: (timeline: Timeline) => void } {
  const panels = heads.map((head, index) => curvePanel(head, panelData(first, index), options));
  return {
    element: h("div", { class: "panels one-axis" }, ...panels.map(({ element }) => element)),
    set: (timeline) => panels.forEach((panel, index) => panel.set(panelData(timeline, index))),
  };
}

/** Middles of the buckets: where their values are drawn. */
export function bucketTimes({ start_s, step_s, mean }: Timeline): number[] {
  const buckets = mean[0]?.[0]?.length ?? 0;
  return Array.from({ length: buckets }, (_, index) => start_s + (index + 0.5) * step_s);
}

function panelData(timeline: Timeline, index: number): PanelData {
  return {
    times: bucketTimes(timeline),
    mean: timeline.mean[index] ?? [],
    low: timeline.low?.[index],
    high: timeline.high?.[index],
  };
}

/** The curves as columns, for the table and the download. */
export function timelineColumns(heads: readonly PanelHead[], timeline: Timeline): Column[] {
  return [
    { title: "Time since the measurement began", unit: "s", values: bucketTimes(timeline) },
    ...heads.flatMap((head, panel) =>
      head.series.map((name, series) => ({
        title: `${head.title}: ${name}`,
        unit: head.unit,
        values: timeline.mean[panel]?.[series] ?? [],
      })),
    ),
  ];
}

/** The curves' numbers, folded. */
export function timelineData(title: string, columns: () => readonly Column[]): HTMLElement {
  return fold({ class: "data" }, "Data of these curves", () => [table(columns(), title), downloadButton(title, "run over time", columns)]);
}

/** Names with values, folded. */
export function pairs(title: string, head: readonly [string, string], values: Record<string, string>): HTMLElement | null {
  const rows = Object.entries(values);
  if (rows.length === 0) {
    return null;
  }
  return fold({ class: "fold" }, `${title} (${rows.length})`, () => [
    table(
      [
        { title: head[0], values: rows.map(([name]) => name) },
        { title: head[1], values: rows.map(([, value]) => value) },
      ],
      title,
    ),
  ]);
}

/** Lines as they were printed or typed: text, whatever is in it. */
export function lines(title: string, text: readonly string[], open = false): HTMLElement | null {
  return text.length === 0 ? null : fold({ class: "fold", open }, title, () => [h("pre", { class: "messages" }, text.join("\n"))]);
}
