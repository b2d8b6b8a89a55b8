// The distribution of latency: percentile by percentile, on an axis that spreads the slowest.

import { figure } from "../figure";
import { number, tick } from "../format";
import { lineFigure } from "../lines";
import { middle, type Page } from "../page";
import { show, type Column } from "../table";

export function percentileFigure(page: Page): HTMLElement | null {
  if (page.percentiles.length === 0) {
    return null;
  }
  const label = (cell: number): string => page.cells[cell]?.label ?? "";
  const percents = [...new Set(page.percentiles.flatMap((curve) => curve.percents))].sort((a, b) => a - b);
  const rows = page.percentiles.flatMap((curve) => curve.percents.map((percent, index) => ({ curve, percent, spread: curve.latency_ms[index] ?? null })));
  const columns: Column[] = [
    { title: "Combination", values: rows.map(({ curve }) => label(curve.cell)) },
    { title: "Percentile", unit: "%", values: rows.map(({ percent }) => percent), show: show.each },
    { title: "Latency", unit: "ms", values: rows.map(({ spread }) => middle(spread)), show: show.each },
    { title: "Lowest", unit: "ms", values: rows.map(({ spread }) => spread?.[1] ?? null), show: show.each },
    { title: "Highest", unit: "ms", values: rows.map(({ spread }) => spread?.[2] ?? null), show: show.each },
  ];
  return figure(page.title, {
    title: "Distribution of latency",
    note: "All repetitions together; the band runs from the lowest repetition to the highest. Each step to the right leaves ten times fewer transactions that were slower; both axes are logarithmic.",
    body: lineFigure("Distribution of latency", {
      // What is left above a percentile, turned round: 90 % is 10, 99 % is 100.
      lines: page.percentiles.map((curve) => ({
        label: label(curve.cell),
        points: curve.percents.flatMap((percent, index) => {
          const [value, low, high] = curve.latency_ms[index] ?? [0, 0, 0];
          return value <= 0 ? [] : [{ x: beyond(percent), y: value, low, high, says: [`${number(value)} ms`, `${number(low)} to ${number(high)} ms in the repetitions`, `${tick(percent)} % were as fast`] }];
        }),
      })),
      xTicks: [50, 90, 95, 99, 99.9, 99.99, 99.999].filter((percent) => percents.includes(percent)).map((percent) => ({ x: beyond(percent), text: `${percent} %` })),
      xTitle: "share of transactions that were as fast",
      yTitle: "latency, ms",
      logY: true,
      band: true,
      yTick: tick,
    }),
    columns,
  });
}

const beyond = (percent: number): number => 100 / (100 - percent);
