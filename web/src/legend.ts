// A figure with a legend: an entry's click hides and shows what it names.

import { h, onWidth } from "./dom";

export interface Entry {
  label: string;
  /** Classes of the swatch beside it. */
  swatch: string;
}

/** What draws a figure at a width, without the entries that are hidden. */
export type Draw = (width: number, isHidden: (entry: number) => boolean) => Node;

/** A figure that draws itself anew at each width and each click in its legend. */
export function withLegend(name: string, entries: readonly Entry[], draw: Draw, ...more: Node[]): HTMLElement {
  const hidden = new Set<number>();
  const chart = h("div", { class: "chart" });
  let width = 0;
  const redraw = (): void => {
    if (width > 0) {
      chart.replaceChildren(draw(width, (entry) => hidden.has(entry)));
    }
  };
  onWidth(chart, (measured) => {
    width = measured;
    redraw();
  });
  const buttons = entries.map(({ label, swatch }, index) => {
    const button = h("button", { type: "button", "aria-pressed": "true" }, h("span", { class: `swatch ${swatch}` }), label);
    button.addEventListener("click", () => {
      const shown = hidden.delete(index) || !hidden.add(index);
      button.setAttribute("aria-pressed", String(shown));
      redraw();
    });
    return button;
  });
  return h("div", {}, h("div", { class: "legend", role: "group", "aria-label": name }, ...buttons, ...more), chart);
}
