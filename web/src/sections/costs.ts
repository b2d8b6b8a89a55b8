// What money buys, where the study declares prices.

import { barFigure } from "../bars";
import { figure } from "../figure";
import { number } from "../format";
import { middle, type Page } from "../page";
import { show } from "../table";
import { section } from "./section";

export function costs(page: Page): HTMLElement | null {
  const rows = page.costs;
  if (rows.length === 0) {
    return null;
  }
  const label = (row: (typeof rows)[number]): string => [row.level, row.context].filter((text) => text !== "").join(", ");
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  const unit = `queries/s per ${currencies.length === 1 ? (currencies[0] ?? "") : "unit of money"}`;
  return section(
    "costs",
    "What does it cost?",
    figure(page.title, {
      title: "Throughput for money",
      note: "At the prices that the study declares. The line over a bar runs from the lowest to the highest repetition. Worse: another level is not slower and not dearer, and better in one of both.",
      body: barFigure("Throughput for money", {
        parts: [
          { name: "worth its price", color: "c0" },
          { name: "worse than another", color: "c6" },
        ],
        rows: rows.map((row) => ({
          label: label(row),
          sides: [{ name: "", values: row.dominated ? [null, row.queries_per_s_per_price] : [row.queries_per_s_per_price, null] }],
        })),
        unit,
      }),
      columns: [
        { title: "Level", values: rows.map(({ level }) => level) },
        { title: "Where", values: rows.map(({ context }) => context) },
        { title: "Price", values: rows.map((row) => `${number(row.price)} ${row.currency}`) },
        { title: "Throughput for money", unit, values: rows.map((row) => middle(row.queries_per_s_per_price)), show: show.each },
        { title: "Worse than another", values: rows.map(({ dominated }) => (dominated ? "yes" : "no")) },
      ],
    }),
  );
}
