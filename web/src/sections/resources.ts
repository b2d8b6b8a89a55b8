// What host and server did: processor time with what waited for I/O, InnoDB's rows.

import { barFigure, type Part } from "../bars";
import { figure } from "../figure";
import { middle, type Page } from "../page";
import type { Column } from "../table";
import { section } from "./section";

interface Shares {
  title: string;
  note: string;
  unit: string;
  /** Name of the part, and the metric that it is read from. */
  parts: readonly (Part & { metric: string })[];
}

const CPU: Shares = {
  title: "Processor time of the host",
  note: "Cores in use, medians of the repetitions; the line over the end of a part runs from the lowest to the highest. Idle with I/O pending: nothing to do until the drive answers.",
  unit: "cores",
  parts: [
    { name: "user", metric: "host.cpu_user_s", color: "c0" },
    { name: "system", metric: "host.cpu_system_s", color: "c1" },
    { name: "idle, I/O pending", metric: "host.cpu_iowait_s", color: "c4" },
    { name: "stolen by the hypervisor", metric: "host.cpu_steal_s", color: "c3" },
    { name: "idle", metric: "host.cpu_idle_s", color: "c6" },
  ],
};

const CHANGED: Shares = {
  title: "InnoDB rows changed",
  note: "Rows per second, medians of the repetitions, with the lowest and the highest.",
  unit: "rows/s",
  parts: [
    { name: "inserted", metric: "status.rows_inserted", color: "c2" },
    { name: "updated", metric: "status.rows_updated", color: "c0" },
    { name: "deleted", metric: "status.rows_deleted", color: "c1" },
  ],
};

const READ: Shares = {
  title: "InnoDB rows read",
  note: "Rows per second, medians of the repetitions, with the lowest and the highest.",
  unit: "rows/s",
  parts: [{ name: "read", metric: "status.rows_read", color: "c5" }],
};

export function resources(page: Page): HTMLElement | null {
  const figures = [CPU, CHANGED, READ].map((shares) => sharesFigure(page, shares)).filter((made) => made !== null);
  return figures.length === 0 ? null : section("resources", "What did host and server do?", ...figures);
}

function sharesFigure(page: Page, { title, note, unit, parts }: Shares): HTMLElement | null {
  const found = parts.flatMap((part) => {
    const counter = page.counters.find(({ metric }) => metric === part.metric);
    return counter === undefined ? [] : [{ part, values: counter.by_cell }];
  });
  if (found.every(({ values }) => values.every((value) => (middle(value) ?? 0) === 0))) {
    return null;
  }
  const columns: Column[] = [
    { title: "Combination", values: page.cells.map(({ label }) => label) },
    ...found.map(({ part, values }) => ({ title: part.name, unit, values: values.map(middle) })),
  ];
  return figure(page.title, {
    title,
    note,
    body: barFigure(title, {
      parts: found.map(({ part }) => part),
      rows: page.cells.map(({ label }, cell) => ({ label, sides: [{ name: "", values: found.map(({ values }) => values[cell] ?? null) }] })),
      unit,
    }),
    columns,
  });
}
