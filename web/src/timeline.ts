// A cell over time: throughput above, p99 below, one line per repetition, warm-up shaded.
//
// All panels share their scales and their cursor, so that one second is compared across cells.

import uPlot from "uplot";
import { property, repetitionClass } from "./colors";
import { shadeSpans } from "./curves";
import { h, onWidth, whenNear } from "./dom";
import { integer, number, tick } from "./format";
import type { Page, RunView } from "./page";
import { binRange, largest, onBins, runsOf, times } from "./series";

const METRICS = [
  { key: "queries_per_s", title: "queries per second", height: 170 },
  { key: "latency_ms_p99", title: "p99 latency, ms", height: 130 },
] as const;
type Metric = (typeof METRICS)[number]["key"];

interface Scale {
  bins: [number, number];
  top: Record<Metric, number>;
}

/** Panels of all cells, side by side where there is room. */
export function timelines(page: Page): HTMLElement {
  const bins = binRange(page.runs);
  const grid = h("div", { class: "panels" });
  if (bins === null) {
    return grid;
  }
  const top = {
    queries_per_s: largest(page.runs, "queries_per_s"),
    latency_ms_p99: largest(page.runs, "latency_ms_p99"),
  };
  page.cells.forEach((cell, index) => {
    const runs = runsOf(page, index);
    if (runs.length > 0) {
      grid.append(panel(cell.label, runs, page.step_s, { bins, top }));
    }
  });
  return grid;
}

function panel(label: string, runs: readonly RunView[], step_s: number, scale: Scale): HTMLElement {
  const legend = new Legend(runs);
  const charts: uPlot[] = [];
  const boxes = METRICS.map((metric) => {
    const box = h("div", { class: "plot", role: "img", "aria-label": `${label}: ${metric.title} over time` });
    box.style.height = `${metric.height}px`;
    let chart: uPlot | undefined;
    const draw = (width: number): void => {
      chart = new uPlot(options(metric, runs, scale, width, legend), data(runs, metric.key, step_s, scale), box);
      charts.push(chart);
      legend.apply(chart);
    };
    // A study of a hundred runs has dozens of panels, of which a screen shows two.
    whenNear(box, () => draw(box.clientWidth));
    onWidth(box, (width) => chart?.setSize({ width, height: metric.height }));
    return h("div", {}, h("p", { class: "axis-title" }, metric.title), box);
  });
  legend.onToggle = () => charts.forEach((chart) => legend.apply(chart));
  // A canvas does not follow the style sheet by itself.
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    charts.forEach((chart) => chart.redraw(false)),
  );
  return h("section", { class: "panel" }, h("h4", {}, label), ...boxes, legend.element);
}

function data(runs: readonly RunView[], metric: Metric, step_s: number, { bins }: Scale): uPlot.AlignedData {
  return [times(bins, step_s), ...runs.map((run) => onBins(run, metric, bins))];
}

/** Rows of repetitions: swatch, mean or value under the cursor; a click hides the line. */
class Legend {
  readonly element: HTMLElement;
  onToggle: () => void = () => {};
  private readonly hidden = new Set<number>();
  private readonly values: Record<Metric, HTMLElement[]> = { queries_per_s: [], latency_ms_p99: [] };
  private readonly when = h("span", { class: "when" }, "whole measurement");

  constructor(private readonly runs: readonly RunView[]) {
    const rows = runs.map((run, index) => this.row(run, index));
    this.element = h(
      "div",
      { class: "readout" },
      h("div", { class: "readout-head" }, this.when, h("span", {}, "queries/s"), h("span", {}, "p99, ms"), h("span", {}, "stalls")),
      ...rows,
    );
    this.show(null, null);
  }

  private row(run: RunView, index: number): HTMLElement {
    const button = h(
      "button",
      { type: "button", "aria-pressed": "true" },
      h("span", { class: `swatch line ${repetitionClass(run.repetition)}` }),
      `repetition ${run.repetition}`,
    );
    button.addEventListener("click", () => {
      const shown = this.hidden.delete(index) || !this.hidden.add(index);
      button.setAttribute("aria-pressed", String(shown));
      this.onToggle();
    });
    const cells = METRICS.map(({ key }) => {
      const value = h("span", { class: "reading" });
      this.values[key].push(value);
      return value;
    });
    return h("div", { class: "readout-row" }, button, ...cells, h("span", { class: "reading" }, integer(run.stalls.length)));
  }

  /** The runs whose lines are shown. */
  shown(): readonly RunView[] {
    return this.runs.filter((_, index) => !this.hidden.has(index));
  }

  /** Hides and shows the lines of `chart`. */
  apply(chart: uPlot): void {
    this.runs.forEach((_, index) => chart.setSeries(index + 1, { show: !this.hidden.has(index) }));
  }

  /** Shows the values of one bin, or of the whole measurement when the cursor is elsewhere. */
  show(time_s: number | null, bin: number | null): void {
    this.when.textContent = time_s === null ? "whole measurement" : `at ${tick(time_s)} s`;
    this.runs.forEach((run, index) => {
      for (const { key } of METRICS) {
        const value = bin === null ? run[key] : (run.series[key][bin - run.series.first_bin] ?? null);
        const element = this.values[key][index];
        if (element !== undefined) {
          element.textContent = number(value);
        }
      }
    });
  }
}

function options(
  metric: (typeof METRICS)[number],
  runs: readonly RunView[],
  { bins, top }: Scale,
  width: number,
  legend: Legend,
): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: () => property("--muted"),
    grid: { stroke: () => property("--hairline"), width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    size: 22,
    gap: 4,
  };
  return {
    width,
    height: metric.height,
    padding: [6, 20, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: "time", scales: ["x", null] },
      points: { size: 6 },
      drag: { x: true, y: false },
    },
    scales: {
      x: { time: false },
      // From zero, and the same in all panels: a difference in height is a difference in value.
      y: { range: () => [0, Math.max(top[metric.key] * 1.05, 1e-3)] },
    },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((value) => `${tick(value)} s`) },
      { ...axis, size: 46, values: (_, ticks) => ticks.map(tick) },
    ],
    series: [
      {},
      ...runs.map((run) => ({
        label: `repetition ${run.repetition}`,
        stroke: () => property(`--${repetitionClass(run.repetition)}`),
        width: 1.5,
        points: { show: false },
      })),
    ],
    hooks: {
      drawClear: [(chart) => shadeWarmup(chart, metric.key === "queries_per_s"), (chart) => shadeEvents(chart, legend.shown(), metric.key === "queries_per_s"), (chart) => markStalls(chart, legend.shown())],
      setCursor: [
        (chart) => {
          const index = chart.cursor.idx;
          const time = index === null || index === undefined ? undefined : chart.data[0][index];
          if (time === undefined || (chart.cursor.left ?? -1) < 0) {
            legend.show(null, null);
          } else {
            legend.show(time, bins[0] + (index ?? 0));
          }
        },
      ],
    },
  };
}

/** Shades all before time 0, where the measurement begins, and says why if `named`. */
function shadeWarmup(chart: uPlot, named: boolean): void {
  const { left, top, width, height } = chart.bbox;
  const from = Math.max(left, chart.valToPos(chart.scales["x"]?.min ?? 0, "x", true));
  const until = Math.min(left + width, chart.valToPos(0, "x", true));
  if (until <= from) {
    return;
  }
  const { ctx } = chart;
  ctx.save();
  ctx.fillStyle = property("--shade");
  ctx.fillRect(from, top, until - from, height);
  const scale = devicePixelRatio;
  ctx.font = `${10 * scale}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.fillStyle = property("--muted");
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  if (named && until - from > 60 * scale) {
    ctx.fillText("warm-up", from + 5 * scale, top + 4 * scale);
  }
  ctx.restore();
}

/** Shades the events of the first of `runs`, which all have the same at the same second; their names if `named`. */
function shadeEvents(chart: uPlot, runs: readonly RunView[], named: boolean): void {
  const events = runs[0]?.events ?? [];
  shadeSpans(chart, named ? events : events.map((event) => ({ ...event, name: "" })));
}

/** Shades the stalls of `runs`, with a bar in the colour of its repetition over each. */
function markStalls(chart: uPlot, runs: readonly RunView[]): void {
  const { left, top, width, height } = chart.bbox;
  const { ctx } = chart;
  const bar = 4 * devicePixelRatio;
  const spans = runs.flatMap((run, row) =>
    run.stalls.map(([from_s, to_s]) => {
      const from = chart.valToPos(from_s, "x", true);
      return { run, row, from, width: Math.max(chart.valToPos(to_s, "x", true) - from, bar / 2) };
    }),
  );
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  // One path, so that stalls of several repetitions at one time are shaded once.
  ctx.beginPath();
  spans.forEach((span) => ctx.rect(span.from, top, span.width, height));
  ctx.fillStyle = property("--stall");
  ctx.fill();
  for (const span of spans) {
    ctx.fillStyle = property(`--${repetitionClass(span.run.repetition)}`);
    ctx.fillRect(span.from, top + span.row * bar, span.width, bar);
  }
  ctx.restore();
}
