// Bytes per second by kind of file: one stacked bar per cell for writes and one for reads.

import { max, sum, ticks } from "d3-array";
import { scaleLinear } from "d3-scale";
import { kindClass, kindOrder } from "./colors";
import { h, labelWidth, onWidth, s } from "./dom";
import { number, tick as tickText } from "./format";
import type { CellTraffic, Page } from "./page";
import { explain } from "./tooltip";

type Kind = CellTraffic["kinds"][number];
const SIDES = [
  { name: "write", value: (kind: Kind) => kind.write_mb_per_s ?? 0 },
  { name: "read", value: (kind: Kind) => kind.read_mb_per_s ?? 0 },
] as const;
const BAR = 13;
const TOP = 8;
const AXIS = 44;

/** The figure of all cells that ran on an emulated drive; its legend hides and shows kinds. */
export function trafficBars(page: Page): HTMLElement {
  const names = [...new Set(page.traffic.flatMap((cell) => cell.kinds.map((kind) => kind.name)))];
  names.sort((a, b) => kindOrder(a) - kindOrder(b));
  const hidden = new Set<string>();
  const chart = h("div", { class: "chart" });
  let width = 0;
  const redraw = (): void => chart.replaceChildren(draw(page, names, width, hidden));
  onWidth(chart, (measured) => {
    width = measured;
    redraw();
  });
  const legend = h("div", { class: "legend", role: "group", "aria-label": "Kinds of file" });
  for (const name of names) {
    const button = h(
      "button",
      { type: "button", "aria-pressed": "true" },
      h("span", { class: `swatch ${kindClass(name)}` }),
      name,
    );
    button.addEventListener("click", () => {
      const shown = hidden.delete(name) || !hidden.add(name);
      button.setAttribute("aria-pressed", String(shown));
      redraw();
    });
    legend.append(button);
  }
  return h("div", {}, legend, chart);
}

function draw(page: Page, names: readonly string[], width: number, hidden: ReadonlySet<string>): SVGElement {
  const labels = labelWidth(page.traffic.map((cell) => page.cells[cell.cell]?.label ?? "")) + 64;
  const narrow = width < 600 || labels > width * 0.5;
  const row = narrow ? 68 : 46;
  const left = narrow ? 40 : labels;
  const right = width - 56;
  const bottom = TOP + page.traffic.length * row;
  const shown = (cell: CellTraffic): Kind[] =>
    names.flatMap((name) => cell.kinds.filter((kind) => kind.name === name && !hidden.has(name)));
  const longest = max(page.traffic, (cell) => max(SIDES, (side) => sum(shown(cell), side.value))) ?? 0;
  const x = scaleLinear([0, longest > 0 ? longest : 1], [left, right]);
  const svg = s("svg", {
    width,
    height: bottom + AXIS,
    role: "group",
    "aria-label": "Megabytes per second on the drive by kind of file",
  });
  for (const tick of ticks(0, longest, narrow ? 3 : 6)) {
    svg.append(
      s("line", { x1: x(tick), x2: x(tick), y1: TOP, y2: bottom, class: tick === 0 ? "zero" : "grid" }),
      s("text", { x: x(tick), y: bottom + 18, class: "tick", "text-anchor": "middle" }, tickText(tick)),
    );
  }
  svg.append(s("text", { x: right, y: bottom + 36, class: "axis", "text-anchor": "end" }, "MB per second"));
  page.traffic.forEach((cell, index) => {
    const label = page.cells[cell.cell]?.label ?? "";
    const y = TOP + index * row;
    const bars = narrow ? y + 28 : y + row / 2 - BAR - 1;
    svg.append(s("text", { x: 0, y: narrow ? y + 18 : y + row / 2 + 4, class: "label" }, label));
    SIDES.forEach((side, position) => {
      const barY = bars + position * (BAR + 3);
      let from = 0;
      svg.append(s("text", { x: left - 6, y: barY + BAR - 3, class: "side", "text-anchor": "end" }, side.name));
      for (const kind of shown(cell)) {
        const size = side.value(kind);
        if (size <= 0) {
          continue;
        }
        const mark = s("rect", {
          x: x(from),
          y: barY,
          width: Math.max(x(from + size) - x(from), 0.75),
          height: BAR,
          class: `bar ${kindClass(kind.name)}`,
          tabindex: 0,
          role: "img",
        });
        explain(mark, [`${kind.name}: ${number(size)} MB/s ${side.name}`, label]);
        svg.append(mark);
        from += size;
      }
      svg.append(s("text", { x: x(from) + 6, y: barY + BAR - 3, class: "side value" }, number(from)));
    });
  });
  return svg;
}
