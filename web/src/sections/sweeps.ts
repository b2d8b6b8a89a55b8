// Throughput and latency against what the study varies: buffer pool, connections.

import { h } from "../dom";
import { figure } from "../figure";
import { gibibytes, meanWithin, number, tick } from "../format";
import { lineFigure, type LineFigure, type LinePoint } from "../lines";
import type { CellSummary, Page, Sweep } from "../page";
import { show, type Column } from "../table";
import { section } from "./section";

/** How many times the data are the pool where memory counts most, and where drives do: docs/predict.md has the points. */
const B = 1 / 0.98;
const C = 3;

export function sweeps(page: Page): HTMLElement | null {
  if (page.sweeps.length === 0) {
    return null;
  }
  return section("sweeps", "How does it change with size and load?", ...page.sweeps.flatMap((sweep) => figures(page, sweep)));
}

function figures(page: Page, sweep: Sweep): HTMLElement[] {
  const against = sweep.is_bytes ? "buffer pool" : "connections";
  const throughput = figure(page.title, {
    title: `Throughput against ${against}`,
    note: sweep.is_bytes
      ? "Means of the repetitions, with their 95 % interval. A: the data fit into the pool. B: it is 2 % short of them. C: a third of them fits. " +
        "An arrow leads from a drive's pool to the pool with which the first drive does as well."
      : "Means of the repetitions, with their 95 % interval. Click an arm to hide it.",
    body: lineFigure(`Throughput against ${against}`, throughputLines(page, sweep)),
    columns: columns(page, sweep),
  });
  const latency = (["p95", "p99"] as const).map((percentile) =>
    figure(page.title, {
      title: `${percentile} latency against ${against}`,
      note: "Medians of the repetitions, with their range, on a logarithmic axis.",
      body: lineFigure(`${percentile} latency against ${against}`, latencyLines(page, sweep, percentile)),
      columns: columns(page, sweep),
    }),
  );
  return [throughput, h("div", { class: "side-by-side" }, ...latency)];
}

function lines(page: Page, sweep: Sweep, point: (cell: CellSummary, level: string) => Omit<LinePoint, "x"> | null): LineFigure["lines"] {
  return sweep.arms.map((arm) => ({
    label: arm.label === "" ? "all runs" : arm.label,
    points: arm.points.flatMap(({ x, level, cell }) => {
      const summary = page.cells[cell];
      const made = summary === undefined ? null : point(summary, level);
      return made === null ? [] : [{ x, ...made }];
    }),
  }));
}

/** `95 % interval 4,200 to 4,600`. */
const interval = (low: number | null, high: number | null): string => (low === null || high === null ? "one repetition, no interval" : `95 % interval ${number(low)} to ${number(high)}`);

function axis(sweep: Sweep): Pick<LineFigure, "xTicks" | "xTitle"> {
  const places = new Map(sweep.arms.flatMap((arm) => arm.points.map(({ x }) => [x, sweep.is_bytes ? gibibytes(x) : tick(x)] as const)));
  return {
    xTicks: [...places].map(([x, text]) => ({ x, text })).sort((a, b) => a.x - b.x),
    xTitle: sweep.is_bytes ? "buffer pool" : "connections",
  };
}

function throughputLines(page: Page, sweep: Sweep): LineFigure {
  const data = sweep.data_bytes;
  const sizes = sweep.arms.flatMap((arm) => arm.points.map(({ x }) => x));
  const [smallest, largest] = [Math.min(...sizes), Math.max(...sizes)];
  // Marks that the study did not come near would only squeeze its own range.
  const near = ({ x }: { x: number }): boolean => x >= smallest / 1.5 && x <= largest * 1.5;
  const marks = data === null ? [] : [{ x: data / C, text: "C" }, { x: data / B, text: "B" }, ...(largest > data * 1.1 ? [{ x: largest, text: "A" }] : [])];
  const unit = sweep.is_bytes ? "" : " connections";
  return {
    ...axis(sweep),
    lines: lines(page, sweep, (cell, level) =>
      cell.queries_per_s_mean === null
        ? null
        : {
            y: cell.queries_per_s_mean,
            low: cell.queries_per_s_low,
            high: cell.queries_per_s_high,
            says: [`${meanWithin(cell.queries_per_s_mean, cell.queries_per_s_min, cell.queries_per_s_max)} queries/s`, interval(cell.queries_per_s_low, cell.queries_per_s_high), `${level}${unit}`],
          },
    ),
    yTitle: "queries per second",
    yTick: tick,
    marks: marks.filter(near),
    arrows: sweep.equivalents.flatMap(({ cell, from, to, sentence }) => {
      const line = sweep.arms.findIndex((arm) => arm.points.some((point) => point.cell === cell));
      const y = page.cells[cell]?.queries_per_s_mean ?? null;
      return y === null ? [] : [{ line, y, from, to, says: sentence }];
    }),
  };
}

function latencyLines(page: Page, sweep: Sweep, percentile: "p95" | "p99"): LineFigure {
  const unit = sweep.is_bytes ? "" : " connections";
  return {
    ...axis(sweep),
    lines: lines(page, sweep, (cell, level) => {
      const value = cell.latency_ms?.[percentile] ?? null;
      const [low, high] = cell.latency_ms?.[`${percentile}_range`] ?? [null, null];
      const range = low === null ? "one repetition" : `${number(low)} to ${number(high)} ms`;
      return value === null || value <= 0 ? null : { y: value, low, high, says: [`${percentile} ${number(value)} ms`, range, `${level}${unit}`] };
    }),
    yTitle: `${percentile} latency, ms`,
    logY: true,
    yTick: tick,
  };
}

function columns(page: Page, sweep: Sweep): Column[] {
  const rows = sweep.arms.flatMap((arm) => arm.points.map((point) => ({ label: arm.label, ...point, summary: page.cells[point.cell] })));
  return [
    { title: "Arm", values: rows.map(({ label }) => label) },
    { title: sweep.is_bytes ? "Buffer pool" : "Connections", ...(sweep.is_bytes ? { unit: "bytes" } : {}), values: rows.map(({ x }) => x), show: show.integers },
    { title: "Throughput", unit: "queries/s", values: rows.map(({ summary }) => summary?.queries_per_s_mean ?? null) },
    { title: "Lowest", unit: "queries/s", values: rows.map(({ summary }) => summary?.queries_per_s_min ?? null) },
    { title: "Highest", unit: "queries/s", values: rows.map(({ summary }) => summary?.queries_per_s_max ?? null) },
    { title: "Lower end", unit: "95 % interval", values: rows.map(({ summary }) => summary?.queries_per_s_low ?? null) },
    { title: "Upper end", unit: "95 % interval", values: rows.map(({ summary }) => summary?.queries_per_s_high ?? null) },
    { title: "p95 latency", unit: "ms", values: rows.map(({ summary }) => summary?.latency_ms?.p95 ?? null) },
    { title: "p99 latency", unit: "ms", values: rows.map(({ summary }) => summary?.latency_ms?.p99 ?? null) },
  ];
}
