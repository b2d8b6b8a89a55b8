// Tables: columns with units, numbers aligned, and the same content as CSV.

import { h } from "./dom";
import { aligned, integer, NOTHING, number } from "./format";

export type Value = string | number | null;

export interface Column {
  title: string;
  /** Stands under the title, and in brackets in the CSV. */
  unit?: string;
  values: readonly Value[];
  /** How the page shows a column of numbers; aligned with three significant digits by default. */
  show?: (values: readonly (number | null)[]) => string[];
  /** Values that are to stand out. */
  strong?: (value: Value) => boolean;
}

/** Texts up to this length stay on one line. */
const SHORT = 18;

const isNumeric = (column: Column): boolean =>
  column.values.every((value) => value === null || typeof value === "number") &&
  column.values.some((value) => value !== null);

function texts(column: Column): string[] {
  if (!isNumeric(column)) {
    return column.values.map((value) => (value === null ? NOTHING : String(value)));
  }
  const numbers = column.values as readonly (number | null)[];
  return (column.show ?? aligned)(numbers);
}

/** Ways to show a column of numbers. */
export const show = {
  /** Each with its own decimals, where a column mixes sizes. */
  each: (values: readonly (number | null)[]): string[] => values.map(number),
  integers: (values: readonly (number | null)[]): string[] => values.map(integer),
};

/** A table in a box that scrolls sideways on its own, so that the page never does. */
export function table(columns: readonly Column[], label: string): HTMLElement {
  const shown = columns.map(texts);
  const kind = columns.map((column) => {
    const short = column.values.every((value) => String(value ?? "").length <= SHORT);
    return isNumeric(column) ? "number" : short ? "text short" : "text";
  });
  const head = columns.map((column, index) =>
    h(
      "th",
      { scope: "col", class: kind[index] ?? "" },
      column.title,
      column.unit === undefined ? null : h("span", { class: "unit" }, column.unit),
    ),
  );
  const rows = (columns[0]?.values ?? []).map((_, row) =>
    h(
      "tr",
      {},
      ...shown.map((column, index) =>
        index === 0
          ? h("th", { scope: "row", class: kind[index] ?? "" }, column[row] ?? "")
          : h("td", { class: classes(columns[index], row, kind[index] ?? "") }, column[row] ?? ""),
      ),
    ),
  );
  return h(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": label },
    h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
  );
}

function classes(column: Column | undefined, row: number, kind: string): string {
  return column?.strong?.(column.values[row] ?? null) === true ? `${kind} strong` : kind;
}

const csvField = (value: Value): string => {
  const text = value === null ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** The same columns as CSV (RFC 4180), numbers unrounded. */
export function csv(columns: readonly Column[]): string {
  const head = columns.map((column) =>
    csvField(column.unit === undefined ? column.title : `${column.title} [${column.unit}]`),
  );
  const rows = (columns[0]?.values ?? []).map((_, row) =>
    columns.map((column) => csvField(column.values[row] ?? null)),
  );
  return [head, ...rows].map((fields) => `${fields.join(",")}\r\n`).join("");
}
