// The ranking of a screen: where to look, not what to believe.

import { h } from "../dom";
import { figure } from "../figure";
import { forest, type ForestRow } from "../forest";
import type { Page } from "../page";
import type { Column } from "../table";
import { section } from "./section";

export function screen(page: Page): HTMLElement | null {
  const found = page.screen;
  const first = found?.metrics[0];
  if (found === null || first === undefined) {
    return null;
  }
  const columns: Column[] = [
    { title: "Factor", values: found.rows.map(({ factor }) => factor) },
    { title: "Change", values: found.rows.map(({ change }) => change) },
    ...found.metrics.map((metric, index) => ({ title: metric, values: found.rows.map(({ effects }) => effects[index]?.text ?? "") })),
    { title: "Then", values: found.rows.map(({ then }) => then) },
  ];
  const title = `Ranking by ${first}`;
  const [note = "", ...notes] = found.notes;
  return section(
    "screen",
    "Which settings matter?",
    figure(page.title, { title, note, body: forest("Effects", found.rows.flatMap(row)), columns }),
    ...notes.map((text) => h("p", { class: "note" }, text)),
  );
}

/** The effect in the first metric; the others stand in the table. */
function row({ factor, change, effects, then }: NonNullable<Page["screen"]>["rows"][number]): ForestRow[] {
  const effect = effects[0];
  if (effect === undefined) {
    return [];
  }
  const [ratio_text = "", interval = ""] = effect.text.split(" (");
  return [
    {
      what: `${factor} ${change}`,
      context: "",
      ratio: effect.ratio,
      ratio_low: effect.ratio_low,
      ratio_high: effect.ratio_high,
      ratio_text,
      interval_text: interval.replace(")", ""),
      verdict: effect.is_sure ? "effect" : "inconclusive",
      said: [then],
    },
  ];
}
