// Functions that the server spends its CPU time in, where levels differ.

import { h } from "../dom";
import type { Page } from "../page";
import { table } from "../table";
import { section } from "./section";

export function flames(page: Page): HTMLElement | null {
  if (page.flames.length === 0) {
    return null;
  }
  const parts = page.flames.flatMap((flame) => [
    h("h3", {}, flame.what),
    table(
      [
        { title: "Function", values: flame.rows.map((row) => row.function) },
        { title: "Baseline", values: flame.rows.map((row) => row.baseline) },
        { title: "Level", values: flame.rows.map((row) => row.level) },
        { title: "Difference (99.9 %)", values: flame.rows.map((row) => row.difference) },
      ],
      `CPU time by function: ${flame.what}`,
    ),
    // As an image nothing in it can run.
    flame.svg === null
      ? null
      : h("img", { class: "flames", alt: `Flame graph of ${flame.what}`, src: `data:image/svg+xml,${encodeURIComponent(flame.svg)}` }),
    h("p", { class: "note" }, flame.facts.join("; "), "."),
  ]);
  return section(
    "flames",
    "In which functions?",
    ...parts.filter((part) => part !== null),
    h("p", { class: "note" }, page.flame_note),
  );
}
