// What the drive did by kind of file: bytes and operations as stacked bars, latency as dots.

import { barFigure, type BarRow } from "./bars";
import { kindClass, kindOrder } from "./colors";
import { h } from "./dom";
import type { CellTraffic, Page, Spread } from "./page";

type Kind = CellTraffic["kinds"][number];
type Key = Exclude<keyof Kind, "name">;

/** What is shown of each kind, as write beside read. */
const MEASURES: readonly { name: string; unit: string; write: Key; read: Key; flush?: Key }[] = [
  { name: "MB per second", unit: "MB/s", write: "write_mb_per_s", read: "read_mb_per_s" },
  { name: "operations per second", unit: "operations/s", write: "writes_per_s", read: "reads_per_s", flush: "flushes_per_s" },
  { name: "mean latency", unit: "\u00b5s", write: "write_latency_us_mean", read: "read_latency_us_mean", flush: "flush_latency_us_mean" },
];

/** The figure of all cells that ran on an emulated drive; buttons choose what it shows. */
export function trafficBars(page: Page): HTMLElement {
  const names = [...new Set(page.traffic.flatMap((cell) => cell.kinds.map((kind) => kind.name)))];
  names.sort((a, b) => kindOrder(a) - kindOrder(b));
  const box = h("div", {});
  const choices = MEASURES.map((measure, index) => {
    const button = h("button", { type: "button", class: "choice" }, measure.name);
    button.addEventListener("click", () => choose(index));
    return button;
  });
  const choose = (chosen: number): void => {
    choices.forEach((button, index) => button.setAttribute("aria-current", String(index === chosen)));
    box.replaceChildren(bars(page, names, chosen));
  };
  choose(0);
  return h("div", {}, h("div", { class: "choices", role: "group", "aria-label": "What is shown" }, ...choices), box);
}

function bars(page: Page, names: readonly string[], chosen: number): HTMLElement {
  const measure = MEASURES[chosen] ?? MEASURES[0];
  if (measure === undefined) {
    return h("div", {});
  }
  const sides = [
    { name: "write", key: measure.write },
    { name: "read", key: measure.read },
    ...(measure.flush === undefined ? [] : [{ name: "flush", key: measure.flush }]),
  ];
  // Latencies do not add up: each kind has a row of its own.
  const stacked = measure.unit !== "\u00b5s";
  const rows: BarRow[] = page.traffic.flatMap((cell) => {
    const label = page.cells[cell.cell]?.label ?? "";
    const value = (name: string, key: Key): Spread => cell.kinds.find((kind) => kind.name === name)?.[key] ?? null;
    const row = (own: string, of: (name: string) => boolean): BarRow => ({
      label: own,
      sides: sides.map(({ name, key }) => ({ name, values: names.map((kind) => (of(kind) ? value(kind, key) : null)) })),
    });
    return stacked
      ? [row(label, () => true)]
      : names.filter((name) => cell.kinds.some((kind) => kind.name === name)).map((name) => row(`${label}: ${name}`, (kind) => kind === name));
  });
  return barFigure("Kinds of file", {
    parts: names.map((name) => ({ name, color: kindClass(name) })),
    rows,
    unit: measure.unit,
    axis: measure.name === "mean latency" ? "mean latency, \u00b5s" : measure.name,
  });
}
