// The same comparison in several results, as small figures: its ratio over time, with 95 % intervals.

import { scaleLinear, scaleLog } from "d3-scale";
import { h, s } from "../dom";
import { count, moment } from "../format";
import { ratioDomain, ratioTicks } from "../scales";
import { reportAddress, type Summary } from "./api";

/** Figures that are drawn; of more comparisons the latest are shown. */
const FIGURES = 6;
const WIDTH = 320;
const HEIGHT = 110;
const LEFT = 44;
const RIGHT = WIDTH - 12;
const TOP = 10;
const BOTTOM = HEIGHT - 10;

/** A comparison that several results have, the oldest result first. */
export interface Trend {
  title: string;
  comparison: string;
  results: Measured[];
}

type Measured = Summary & { ratio: number };

/** Comparisons that at least two of `results` (the latest first) have, the latest first. */
export function trendsOf(results: readonly Summary[]): Trend[] {
  const trends = new Map<string, Trend>();
  for (const result of results) {
    const { title, comparison } = result;
    if (!isMeasured(result)) {
      continue;
    }
    const key = JSON.stringify([title, comparison]);
    const trend = trends.get(key) ?? { title, comparison, results: [] };
    trend.results.unshift(result);
    trends.set(key, trend);
  }
  return [...trends.values()].filter((trend) => trend.results.length > 1);
}

function isMeasured(result: Summary): result is Measured {
  return result.ratio !== null && result.ratio > 0;
}

/** The figures of `results`; nothing if no comparison was made twice. */
export function trendFigures(results: readonly Summary[]): HTMLElement[] {
  return trendsOf(results).slice(0, FIGURES).map(trendFigure);
}

function trendFigure(trend: Trend): HTMLElement {
  const { results } = trend;
  const latest = results[results.length - 1];
  const newest = latest === undefined ? null : h("a", { href: reportAddress(latest.name) }, trend.title);
  return h(
    "figure",
    { class: "trend" },
    h("figcaption", {}, h("h4", {}, newest), h("p", { class: "question-line" }, `${trend.comparison}: ${count(results.length, "result")}`)),
    draw(trend),
  );
}

function draw({ comparison, results }: Trend): SVGElement {
  const ends = results.flatMap(({ ratio, ratio_low, ratio_high }) => [ratio, ratio_low, ratio_high].filter((end) => end !== null));
  const domain = ratioDomain(ends);
  const y = scaleLog(domain, [BOTTOM, TOP]);
  const x = scaleLinear([0, results.length - 1], [LEFT + 12, RIGHT - 12]);
  const words = results.map((result) => `${moment(result.started_at)}: ${ratioWords(result)}`);
  const svg = s("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    width: WIDTH,
    height: HEIGHT,
    role: "img",
    "aria-label": `${comparison}. ${words.join("; ")}`,
  });
  for (const tick of ratioTicks(domain, 3)) {
    const one = tick === 1;
    svg.append(
      s("line", { x1: LEFT, x2: RIGHT, y1: y(tick), y2: y(tick), class: one ? "one" : "grid" }),
      s("text", { x: LEFT - 6, y: y(tick) + 4, class: one ? "tick strong" : "tick", "text-anchor": "end" }, `${tick}x`),
    );
  }
  results.forEach((result, index) => {
    const { ratio, ratio_low, ratio_high, verdict } = result;
    const mark = s("g", { class: `comparison ${verdict ?? ""}` }, s("title", {}, words[index] ?? ""));
    if (ratio_low !== null && ratio_high !== null) {
      mark.append(s("line", { x1: x(index), x2: x(index), y1: y(ratio_low), y2: y(ratio_high), class: "interval" }));
    }
    mark.append(s("circle", { cx: x(index), cy: y(ratio), r: 4, class: "point" }));
    svg.append(mark);
  });
  return svg;
}

/** `2.81x (2.71 to 2.91)`. */
function ratioWords({ ratio, ratio_low, ratio_high }: Measured): string {
  const interval = ratio_low !== null && ratio_high !== null ? ` (${ratio_low.toFixed(2)} to ${ratio_high.toFixed(2)})` : "";
  return `${ratio.toFixed(2)}x${interval}`;
}
