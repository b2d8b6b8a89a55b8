// What follows from several comparisons together: sentences that weir-report wrote.

import { h, prose } from "../dom";
import { sentence } from "../format";
import type { Page } from "../page";
import { section } from "./section";

export function insights(page: Page): HTMLElement | null {
  if (page.insights.length === 0) {
    return null;
  }
  const items = page.insights.map((text) => h("li", {}, prose(sentence(text))));
  return section("insights", "What follows from it?", h("ul", { class: "insights" }, ...items));
}
