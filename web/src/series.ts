// Runs on a shared axis of time, ready for a chart.

import type { Page, RunView } from "./page";

type Metric = "queries_per_s" | "latency_ms_p99";

/** The runs of a cell, by repetition. */
export function runsOf(page: Page, cell: number): RunView[] {
  return page.runs.filter((run) => run.cell === cell).sort((a, b) => a.repetition - b.repetition);
}

/** First and last bin over all runs; bins are `step_s` long and bin 0 begins the measurement. */
export function binRange(runs: readonly RunView[]): [number, number] | null {
  let range: [number, number] | null = null;
  for (const { series } of runs) {
    if (series.queries_per_s.length > 0) {
      const last = series.first_bin + series.queries_per_s.length - 1;
      range = [Math.min(range?.[0] ?? Infinity, series.first_bin), Math.max(range?.[1] ?? -Infinity, last)];
    }
  }
  return range;
}

/** Ends of the bins in seconds: where a bin's value is drawn. */
export function times([first, last]: [number, number], step_s: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index + 1) * step_s);
}

/** A run's values on the bins of `range`; `null` where it has none. */
export function onBins(run: RunView, metric: Metric, [first, last]: [number, number]): (number | null)[] {
  const { first_bin, [metric]: values } = run.series;
  return Array.from({ length: last - first + 1 }, (_, index) => values[first + index - first_bin] ?? null);
}

/** The largest value of all runs, for a scale that all cells share. */
export function largest(runs: readonly RunView[], metric: Metric): number {
  return runs.reduce(
    (most, run) => run.series[metric].reduce<number>((m, value) => Math.max(m, value ?? 0), most),
    0,
  );
}
