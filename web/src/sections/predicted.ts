// What pools and drives would do that nobody ran, beside what was measured.

import { h } from "../dom";
import { figure } from "../figure";
import { gibibytes, number, sentence, tick } from "../format";
import { lineFigure, type Line } from "../lines";
import type { Page, PredictedThroughput } from "../page";
import { show, type Column } from "../table";
import { section } from "./section";

export function predicted(page: Page): HTMLElement | null {
  if (page.predicted.length === 0) {
    return null;
  }
  return section("predicted", "What would others do?", ...page.predicted.map((pools) => predictedFigure(page, pools)));
}

function predictedFigure(page: Page, pools: PredictedThroughput): HTMLElement {
  const title = `Predicted throughput against buffer pool, ${pools.title}`;
  return h(
    "div",
    {},
    figure(page.title, {
      title,
      note: "Lines are predicted, points are the means of what this result measured. A band is where the throughput would lie if the model is as far off as it is at those.",
      body: lineFigure(title, {
        lines: lines(pools),
        xTicks: [...new Set(pools.drives.flatMap(({ points }) => points.map(({ pool_bytes }) => pool_bytes)))].sort((a, b) => a - b).map((x) => ({ x, text: gibibytes(x) })),
        xTitle: "buffer pool",
        yTitle: "transactions per second",
        band: true,
        yTick: tick,
      }),
      columns: columns(pools),
    }),
    ...pools.notes.map((note) => h("p", { class: "prose" }, sentence(note))),
  );
}

function lines(pools: PredictedThroughput): Line[] {
  const curves = pools.drives.map(({ drive, points }) => ({
    label: drive,
    small: true,
    points: points.map((point) => ({
      x: point.pool_bytes,
      y: point.transactions_per_s,
      low: point.likely?.[0] ?? null,
      high: point.likely?.[1] ?? null,
      says: [
        `${number(point.transactions_per_s)} transactions/s predicted`,
        ...(point.likely === null ? [] : [`likely ${number(point.likely[0])} to ${number(point.likely[1])}`]),
        ...(point.latency_ms_p99 === null ? [] : [`p99 ${number(point.latency_ms_p99)} ms`]),
        `limited by ${point.limit}`,
        gibibytes(point.pool_bytes),
      ],
    })),
  }));
  const measured = pools.drives.map(({ drive, points }, pointsOf) => ({
    label: `${drive}, measured`,
    pointsOf,
    points: points.flatMap(({ pool_bytes: x, measured_transactions_per_s: y }) => (y === null ? [] : [{ x, y, says: [`${number(y)} transactions/s measured`, gibibytes(x)] }])),
  }));
  return [...curves, ...measured.filter(({ points }) => points.length > 0)];
}

function columns(pools: PredictedThroughput): Column[] {
  const rows = pools.drives.flatMap(({ drive, points }) => points.map((point) => ({ drive, ...point })));
  return [
    { title: "Drive", values: rows.map(({ drive }) => drive) },
    { title: "Buffer pool", unit: "bytes", values: rows.map(({ pool_bytes }) => pool_bytes), show: show.integers },
    { title: "Predicted", unit: "transactions/s", values: rows.map(({ transactions_per_s }) => transactions_per_s) },
    { title: "Likely from", unit: "transactions/s", values: rows.map(({ likely }) => likely?.[0] ?? null) },
    { title: "to", unit: "transactions/s", values: rows.map(({ likely }) => likely?.[1] ?? null) },
    { title: "Measured", unit: "transactions/s", values: rows.map((row) => row.measured_transactions_per_s) },
    { title: "p99 latency", unit: "ms", values: rows.map(({ latency_ms_p99 }) => latency_ms_p99) },
    { title: "Misses", unit: "of references", values: rows.map(({ miss_ratio }) => miss_ratio), show: show.each },
    { title: "Limited by", values: rows.map(({ limit }) => limit) },
  ];
}
