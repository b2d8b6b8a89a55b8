// Panels of curves over time on one shared axis and cursor: a run with all its probes, or a study
// that is running. A click on a name hides its curve; where values were gathered into buckets, the
// band behind a curve runs from the smallest to the largest of each.

import uPlot from "uplot";
import { property } from "./colors";
import { h, onWidth, whenNear } from "./dom";
import { number, tick } from "./format";

export interface PanelHead {
  /** Panels of a group with a name are folded together. */
  group: string;
  title: string;
  unit: string;
  series: readonly string[];
}

type Values = readonly (number | null)[];

/** Values of one panel: a list per series, one value per time. */
export interface PanelData {
  times: readonly number[];
  mean: readonly Values[];
  low?: readonly Values[] | undefined;
  high?: readonly Values[] | undefined;
}

export interface Panel {
  element: HTMLElement;
  set(data: PanelData): void;
}

/** A time with a name, seconds since the measurement began. */
export interface Span {
  name: string;
  from_s: number | null;
  to_s: number | null;
}

export interface PanelOptions {
  /** Panels with the same key share their cursor. */
  key: string;
  /** Drag to zoom; without it dragging only zooms what is there. */
  onZoom?: (from_s: number, to_s: number) => void;
  /** Times to shade, such as those of events. */
  spans?: readonly Span[];
  /** Double click. */
  onReset?: () => void;
}

const HEIGHT = 150;

export function curvePanel(head: PanelHead, first: PanelData, options: PanelOptions): Panel {
  let data = first;
  let chart: uPlot | undefined;
  const hidden = new Set<number>();
  const box = h("div", { class: "plot", role: "img", "aria-label": `${head.title} in ${head.unit} over time` });
  box.style.height = `${HEIGHT}px`;
  const readings = head.series.map(() => h("span", { class: "reading" }));
  const when = h("span", { class: "when" });

  const read = (index: number | null): void => {
    const time = index === null ? undefined : data.times[index];
    when.textContent = time === undefined ? "" : `at ${tick(time)} s`;
    readings.forEach((reading, series) => {
      const value = index === null ? null : (data.mean[series]?.[index] ?? null);
      reading.textContent = index === null ? "" : number(value);
    });
  };
  const apply = (): void =>
    head.series.forEach((_, series) => {
      for (const part of parts(data, series, head.series.length)) {
        chart?.setSeries(part, { show: !hidden.has(series) });
      }
    });
  const draw = (): void => {
    chart?.destroy();
    chart = new uPlot(setup(head, data, box.clientWidth, options, read), aligned(data), box);
    apply();
  };
  const legend = head.series.map((name, series) => {
    const button = h("button", { type: "button", "aria-pressed": "true" }, h("span", { class: `swatch line c${series % 7}` }), name);
    button.addEventListener("click", () => {
      const shown = hidden.delete(series) || !hidden.add(series);
      button.setAttribute("aria-pressed", String(shown));
      apply();
    });
    return h("span", { class: "entry" }, button, readings[series] ?? null);
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const redraw = (): void => chart?.redraw(false);
  dark.addEventListener("change", redraw);
  const stop = whenNear(box, draw);
  // Charts of pages that were left would go on following the cursor and the zoom of those that are shown.
  onWidth(
    box,
    (width) => chart?.setSize({ width, height: HEIGHT }),
    () => {
      stop();
      dark.removeEventListener("change", redraw);
      chart?.destroy();
      chart = undefined;
    },
  );
  return {
    element: h(
      "section",
      { class: "panel" },
      h("h4", {}, head.title, h("span", { class: "panel-unit" }, head.unit)),
      box,
      h("div", { class: "entries" }, ...legend, when),
    ),
    set(next) {
      const same = (next.low === undefined) === (data.low === undefined);
      data = next;
      if (chart !== undefined && same) {
        chart.setData(aligned(next));
      } else if (chart !== undefined) {
        draw();
      }
    },
  };
}

/** Means first, then the low and high ends of the bands. */
function aligned({ times, mean, low, high }: PanelData): uPlot.AlignedData {
  return [times, ...mean, ...(low ?? []), ...(high ?? [])] as unknown as uPlot.AlignedData;
}

/** Places of a series in the chart: its curve, and the ends of its band. */
function parts(data: PanelData, series: number, count: number): number[] {
  return data.low === undefined ? [1 + series] : [1 + series, 1 + count + series, 1 + 2 * count + series];
}

function setup(
  head: PanelHead,
  data: PanelData,
  width: number,
  { key, onZoom, onReset, spans = [] }: PanelOptions,
  read: (index: number | null) => void,
): uPlot.Options {
  const count = head.series.length;
  const color = (series: number) => (): string => property(`--c${series % 7}`);
  const axis: uPlot.Axis = {
    stroke: () => property("--muted"),
    grid: { stroke: () => property("--hairline"), width: 1 },
    ticks: { show: false },
    font: `11px ${getComputedStyle(document.body).fontFamily}`,
    size: 22,
    gap: 4,
  };
  const edge = { stroke: "transparent", width: 0, points: { show: false } };
  const banded = data.low !== undefined;
  return {
    width,
    height: HEIGHT,
    padding: [8, 16, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key, scales: ["x", null] },
      points: { size: 6 },
      drag: { x: true, y: false, setScale: onZoom === undefined },
      ...(onReset === undefined
        ? {}
        : { bind: { dblclick: () => () => (onReset(), null) } }),
    },
    scales: { x: { time: false }, y: { range: (_, __, top) => [0, top > 0 ? top * 1.08 : 1] } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((value) => `${tick(value)} s`) },
      { ...axis, size: 54, values: (_, ticks) => ticks.map(tick) },
    ],
    series: [
      {},
      ...head.series.map((label, series) => ({ label, stroke: color(series), width: 1.5, points: { show: false } })),
      ...(banded ? [...head.series, ...head.series].map(() => edge) : []),
    ],
    bands: banded
      ? head.series.map((_, series) => ({
          series: [1 + 2 * count + series, 1 + count + series] as [number, number],
          fill: () => `${color(series)()}33`,
        }))
      : [],
    hooks: {
      drawClear: [shadeWarmup, (chart) => shadeSpans(chart, spans)],
      setCursor: [(chart) => read((chart.cursor.left ?? -1) < 0 ? null : (chart.cursor.idx ?? null))],
      setSelect: [
        (chart) => {
          const { left, width: selected } = chart.select;
          if (onZoom !== undefined && selected > 4) {
            onZoom(chart.posToVal(left, "x"), chart.posToVal(left + selected, "x"));
            chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }
        },
      ],
    },
  };
}

/** Shades each span, at least two pixels wide, with its name at its top. */
export function shadeSpans(chart: uPlot, spans: readonly Span[]): void {
  const { left, top, width, height } = chart.bbox;
  const { ctx } = chart;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.font = `${10 * scale}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  spans.forEach(({ name, from_s, to_s }, row) => {
    const from = chart.valToPos(from_s ?? 0, "x", true);
    const until = Math.max(chart.valToPos(to_s ?? 0, "x", true), from + 2 * scale);
    ctx.fillStyle = property("--event");
    ctx.fillRect(from, top, until - from, height);
    ctx.fillStyle = property("--muted");
    ctx.fillText(name, from + 4 * scale, top + (4 + 12 * (row % 4)) * scale);
  });
  ctx.restore();
}

/** Shades all before time 0, where the measurement begins. */
function shadeWarmup(chart: uPlot): void {
  const { left, top, width, height } = chart.bbox;
  const until = Math.min(left + width, chart.valToPos(0, "x", true));
  if (until > left) {
    chart.ctx.save();
    chart.ctx.fillStyle = property("--shade");
    chart.ctx.fillRect(left, top, until - left, height);
    chart.ctx.restore();
  }
}
