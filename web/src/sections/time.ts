// Throughput and latency over time.

import { curvePanel } from "../curves";
import { figure } from "../figure";
import { h } from "../dom";
import { number } from "../format";
import type { Page, RunView } from "../page";
import { hosts } from "./hosts";
import { serverHosts } from "./server_hosts";
import { runsOf } from "../series";
import { show, table, type Column } from "../table";
import { timelines } from "../timeline";
import { section } from "./section";

export function time(page: Page): HTMLElement | null {
  if (page.runs.length === 0) {
    return null;
  }
  const step =
    page.step_s === 1
      ? "Each point is one second."
      : `Each point is ${number(page.step_s)} s: mean throughput, and the p99 of the worst second.`;
  return section(
    "time",
    "Was it steady?",
    figure(page.title, {
      title: "Throughput and latency over time",
      note: `${step} All panels have the same scales. Drag to zoom, double-click to go back; click a repetition to hide it. Marked: stalls, below half of a run's median throughput${page.events.length === 0 ? "" : ", and the events of a first run"}.`,
      body: timelines(page),
      columns: summary(page),
      download: () => everySecond(page),
    }),
    ...events(page),
    ...hosts(page),
    ...serverHosts(page),
  );
}

/** What became of the events, where there were any. */
function events(page: Page): HTMLElement[] {
  const rows = page.events;
  if (rows.length === 0) {
    return [];
  }
  return [
    h("h3", {}, "Events"),
    table(
      [
        { title: "Combination", values: rows.map((row) => row.combination) },
        { title: "Event", values: rows.map((row) => row.event) },
        { title: "Outcome", values: rows.map((row) => row.outcome) },
        { title: "Took", unit: "s", values: rows.map((row) => row.duration_s) },
        { title: "Waited for locks", unit: "s", values: rows.map((row) => row.lock_wait_s) },
        { title: "Longest pause", unit: "s", values: rows.map((row) => row.longest_pause_s) },
        { title: "Throughput", unit: "during/before", values: rows.map((row) => row.throughput_ratio) },
        { title: "p99", unit: "during/before", values: rows.map((row) => row.p99_ratio) },
        { title: "Transactions lost", values: rows.map((row) => row.transactions_lost) },
        { title: "Settled after", unit: "s", values: rows.map((row) => row.settle_s) },
        { title: "Details", values: rows.map((row) => row.details) },
      ],
      "Events",
    ),
    h("p", { class: "note" }, page.event_note),
    ...closeUps(page),
  ];
}

/** Tenths of a second around the events, of the first repetition of each combination. */
function closeUps(page: Page): HTMLElement[] {
  const found = page.runs.flatMap((run) => (run.close_up ? [{ run, close: run.close_up }] : []));
  if (found.length === 0) {
    return [];
  }
  return [
    h("h3", {}, "Events in tenths of a second"),
    h("p", { class: "note" }, "Ten seconds around the beginning and the end of each event, of the first repetition. Shaded: the events."),
    ...found.flatMap(({ run, close }) => {
      const label = page.cells[run.cell]?.label ?? "";
      const panel = (title: string, unit: string, values: readonly (number | null)[]): HTMLElement =>
        curvePanel(
          { group: "", title: `${label}: ${title}`, unit, series: [title] },
          { times: close.times_s, mean: [values] },
          { key: `close-up-${run.cell}`, spans: run.events },
        ).element;
      return [
        panel("transactions", "per second", close.transactions_per_s),
        panel("p99 latency", "ms", close.latency_ms_p99),
      ];
    }),
  ];
}

/** Values of the measurement, without the warm-up. */
function measured(run: RunView): number[] {
  const values = run.series.queries_per_s.slice(Math.max(0, -run.series.first_bin));
  return values.filter((value) => value !== null);
}

/** How steady each run was: lowest and highest point of its measurement. */
export function summary(page: Page): Column[] {
  const runs = page.cells.flatMap((cell, index) => runsOf(page, index).map((run) => ({ cell, run })));
  const over = (reduce: (values: number[]) => number) =>
    runs.map(({ run }) => {
      const values = measured(run);
      return values.length === 0 ? null : reduce(values);
    });
  return [
    { title: "Combination", values: runs.map(({ cell }) => cell.label) },
    { title: "Repetition", values: runs.map(({ run }) => run.repetition), show: show.integers },
    { title: "Mean", unit: "queries/s", values: runs.map(({ run }) => run.queries_per_s) },
    { title: "Lowest point", unit: "queries/s", values: over((values) => Math.min(...values)) },
    { title: "Highest point", unit: "queries/s", values: over((values) => Math.max(...values)) },
    { title: "p99 latency", unit: "ms", values: runs.map(({ run }) => run.latency_ms_p99) },
    { title: "Stalls", values: runs.map(({ run }) => run.stalls.length), show: show.integers },
    { title: "Longest stall", unit: "s", values: runs.map(({ run }) => (run.stalls.length === 0 ? null : Math.max(...run.stalls.map(([from, to]) => to - from)))) },
  ];
}

/** Every point of every run, warm-up included, for the download. */
export function everySecond(page: Page): Column[] {
  const points = page.runs.flatMap((run) =>
    run.series.queries_per_s.map((queries, index) => ({ run, queries, index })),
  );
  return [
    { title: "Combination", values: points.map(({ run }) => page.cells[run.cell]?.label ?? "") },
    { title: "Repetition", values: points.map(({ run }) => run.repetition) },
    {
      title: "Time since the measurement began",
      unit: "s",
      values: points.map(({ run, index }) => (run.series.first_bin + index + 1) * page.step_s),
    },
    { title: "Throughput", unit: "queries/s", values: points.map(({ queries }) => queries) },
    {
      title: "p99 latency",
      unit: "ms",
      values: points.map(({ run, index }) => run.series.latency_ms_p99[index] ?? null),
    },
  ];
}
