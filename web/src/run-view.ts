// A run closely: every probe on one axis of time, then what was not measured, logs, commands and
// variables. The report and `weir serve` show the same.

import { curvePanel, type Panel, type PanelData, type PanelHead, type PanelOptions } from "./curves";
import { fold, h, prose } from "./dom";
import { downloadButton } from "./figure";
import { moment, number } from "./format";
import type { GapView } from "./page";
import { table, type Column } from "./table";

type Curves = readonly (readonly (readonly (number | null)[])[])[];

/** Curves of a run by panel and series, in buckets of equal length; one value stands for all buckets. */
export interface Timeline {
  start_s: number;
  step_s: number;
  buckets: number;
  mean: Curves;
  low?: Curves | undefined;
  high?: Curves | undefined;
}

/** What is told of a run besides its curves. */
export interface RunWords {
  started_at: string;
  measured_s: number | null;
  queries_per_s: number | null;
  latency_ms_p99: number | null;
  bottleneck: string;
  bottleneck_explanation: string;
  bottleneck_evidence: string;
  gaps: readonly GapView[];
  server_log: string;
  commands: readonly string[];
  variables_changed: Readonly<Record<string, string>>;
}

/** A run's numbers and what limited it. */
export function runHead(run: RunWords, ...first: (Node | null)[]): HTMLElement[] {
  return [
    h(
      "p",
      { class: "facts" },
      ...first,
      h("span", {}, moment(run.started_at)),
      h("span", {}, `${number(run.queries_per_s)} queries/s`),
      h("span", {}, `p99 ${number(run.latency_ms_p99)} ms`),
      h("span", {}, `${number(run.measured_s)} s measured`),
    ),
    prose(`Limited by: ${run.bottleneck} (${run.bottleneck_evidence}). This means: ${run.bottleneck_explanation}.`),
  ];
}

/** What was not measured, log, commands and variables. */
export function runDetails(run: RunWords, variables: Readonly<Record<string, string>>): (HTMLElement | null)[] {
  return [
    gapTable(run.gaps),
    lines("Error log of the server", run.server_log.trimEnd().split("\n").filter((line) => line !== "")),
    lines("Commands of this run", run.commands),
    changes(variables, run.variables_changed),
    pairs("Variables of the server before the load", variables),
  ];
}

/** The panels of a run on one axis, and what gives them other curves. */
export function runPanels(
  heads: readonly PanelHead[],
  first: Timeline,
  options: PanelOptions,
): { element: HTMLElement; set: (timeline: Timeline) => void } {
  let shown = first;
  const made = new Map<number, Panel>();
  const grid = (group: string): HTMLElement => {
    const panels = heads.flatMap((head, index) => {
      if (head.group !== group) {
        return [];
      }
      const panel = curvePanel(head, panelData(shown, index), options);
      made.set(index, panel);
      return [panel.element];
    });
    return h("div", { class: "panels one-axis" }, ...panels);
  };
  const groups = [...new Set(heads.map(({ group }) => group))];
  const count = (group: string): number => heads.filter((head) => head.group === group).length;
  return {
    element: h(
      "div",
      {},
      ...groups.map((group) => (group === "" ? grid(group) : fold({ class: "fold group" }, `${group} (${count(group)})`, () => [grid(group)]))),
    ),
    set: (timeline) => {
      shown = timeline;
      made.forEach((panel, index) => panel.set(panelData(timeline, index)));
    },
  };
}

/** Middles of the buckets: where their values are drawn. */
export function bucketTimes({ start_s, step_s, buckets }: Timeline): number[] {
  return Array.from({ length: buckets }, (_, index) => start_s + (index + 0.5) * step_s);
}

/** A value for every bucket. */
const spread = (values: readonly (number | null)[], buckets: number): readonly (number | null)[] =>
  values.length === 1 && buckets > 1 ? new Array<number | null>(buckets).fill(values[0] ?? null) : values;

function panelData(timeline: Timeline, index: number): PanelData {
  const of = (curves: Curves): readonly (readonly (number | null)[])[] => (curves[index] ?? []).map((values) => spread(values, timeline.buckets));
  return {
    times: bucketTimes(timeline),
    mean: of(timeline.mean),
    low: timeline.low === undefined ? undefined : of(timeline.low),
    high: timeline.high === undefined ? undefined : of(timeline.high),
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
        values: spread(timeline.mean[panel]?.[series] ?? [], timeline.buckets),
      })),
    ),
  ];
}

/** The curves' numbers, folded: in the table those of the panels that stand open, all in the download. */
export function timelineData(title: string, heads: readonly PanelHead[], timeline: () => Timeline): HTMLElement {
  const first = heads.filter(({ group }) => group === "");
  return fold({ class: "data" }, "Data of these curves", () => [
    table(timelineColumns(first, timeline()), title),
    downloadButton(title, "run over time", () => timelineColumns(heads, timeline())),
  ]);
}

function gapTable(gaps: readonly GapView[]): HTMLElement | null {
  if (gaps.length === 0) {
    return null;
  }
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Not measured"),
    h("p", { class: "note" }, "Curves have a gap where a source gave no samples."),
    table(
      [
        { title: "Source", values: gaps.map(({ source }) => source) },
        { title: "From", unit: "s", values: gaps.map(({ from_s }) => from_s) },
        { title: "To", unit: "s", values: gaps.map(({ to_s }) => to_s) },
        { title: "Why", values: gaps.map(({ reason }) => reason) },
      ],
      "Not measured",
    ),
  );
}

/** Variables that the load left different, with what they were before. */
function changes(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): HTMLElement {
  const rows = Object.entries(after);
  if (rows.length === 0) {
    return h("p", { class: "note" }, "All variables of the server were the same before and after the load.");
  }
  return fold({ class: "fold", open: true }, `Variables that the load left different (${rows.length})`, () => [
    table(
      [
        { title: "Variable", values: rows.map(([name]) => name) },
        { title: "Before the load", values: rows.map(([name]) => before[name] ?? null) },
        { title: "After the load", values: rows.map(([, value]) => value) },
      ],
      "Variables that the load left different",
    ),
  ]);
}

function pairs(title: string, values: Readonly<Record<string, string>>): HTMLElement | null {
  const rows = Object.entries(values);
  if (rows.length === 0) {
    return null;
  }
  return fold({ class: "fold" }, `${title} (${rows.length})`, () => [
    table(
      [
        { title: "Variable", values: rows.map(([name]) => name) },
        { title: "Value", values: rows.map(([, value]) => value) },
      ],
      title,
    ),
  ]);
}

/** Lines as they were printed or typed: text, whatever is in it. */
function lines(title: string, text: readonly string[]): HTMLElement | null {
  return text.length === 0 ? null : fold({ class: "fold" }, title, () => [h("pre", { class: "messages", tabindex: 0 }, text.join("\n"))]);
}
