// Figures that draw themselves: at each width, without the series that the reader has hidden, and of
// many rows the first ones until all are asked for.

import { h, onWidth } from "./dom";
import { integer } from "./format";

export interface Entry {
  label: string;
  /** Classes of the swatch beside it. */
  swatch: string;
}

/** What draws a figure at a width, without the entries that are hidden, up to so many rows. */
export type Draw = (width: number, isHidden: (entry: number) => boolean, rows: number) => Node;

export interface FigureOptions {
  /** What the legend is of; no legend without entries. */
  name: string;
  entries?: readonly Entry[];
  /** Entries that are shown at first; the others a click away. */
  shown?: number;
  /** How many rows there are, and what they are called. */
  rows?: { total: number; noun: string };
  draw: Draw;
}

/** Rows that are drawn at first: more than a screen has room for. */
const ROWS = 40;

/** A figure that draws itself anew at each width and each click in its legend. */
export function drawn({ name, entries = [], shown = Infinity, rows, draw }: FigureOptions, ...more: Node[]): HTMLElement {
  const hidden = new Set(entries.map((_, index) => index).filter((index) => index >= shown));
  const chart = h("div", { class: "chart" });
  let most = rows !== undefined && rows.total > ROWS * 1.25 ? ROWS : Infinity;
  let width = 0;
  const redraw = (): void => {
    if (width > 0) {
      chart.replaceChildren(draw(width, (entry) => hidden.has(entry), most));
    }
  };
  onWidth(chart, (measured) => {
    width = measured;
    redraw();
  });
  const buttons = entries.map(({ label, swatch }, index) => {
    const button = h("button", { type: "button", "aria-pressed": String(!hidden.has(index)) }, h("span", { class: `swatch ${swatch}` }), label);
    button.addEventListener("click", () => {
      const isShown = hidden.delete(index) || !hidden.add(index);
      button.setAttribute("aria-pressed", String(isShown));
      redraw();
    });
    return button;
  });
  const legend = buttons.length + more.length === 0 ? null : h("div", { class: "legend", role: "group", "aria-label": name }, ...buttons, ...more);
  return h("div", {}, legend, chart, most === Infinity ? null : all(rows?.total ?? 0, rows?.noun ?? "", () => ((most = Infinity), redraw())));
}

function all(total: number, noun: string, show: () => void): HTMLElement {
  const button = h("button", { type: "button", class: "download" }, `Show all ${integer(total)} ${noun}`);
  const once = (): void => {
    button.remove();
    removeEventListener("beforeprint", once);
    show();
  };
  button.addEventListener("click", once);
  addEventListener("beforeprint", once);
  return button;
}
