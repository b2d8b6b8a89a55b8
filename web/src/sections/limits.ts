// What limited each combination, and its latency.

import { h } from "../dom";
import { downloadButton } from "../figure";
import { percents } from "../format";
import type { CellSummary, Page } from "../page";
import { show, table, type Column } from "../table";
import { percentileFigure } from "./percentiles";
import { section } from "./section";

type Used = NonNullable<CellSummary["utilization"]>;
type Latency = NonNullable<CellSummary["latency_ms"]>;

export function limits(page: Page): HTMLElement {
  const columns = limitColumns(page);
  const explanations = new Map(
    page.cells.flatMap((cell) => (cell.bottleneck === null ? [] : [[cell.bottleneck.name, cell.bottleneck.explanation]])),
  );
  return section(
    "limits",
    "What limited each combination?",
    table(columns, "What limited each combination"),
    h(
      "dl",
      { class: "explanations" },
      ...[...explanations].map(([name, text]) => h("div", {}, h("dt", {}, name ?? ""), h("dd", {}, text ?? ""))),
    ),
    h("p", { class: "note" }, "Medians over the repetitions. Drive: share of time for which its read units, or its media for writing, were busy. I/O wait: share of host time idle with I/O pending."),
    downloadButton(page.title, "limits", () => columns),
    latencies(page),
    percentileFigure(page),
  );
}

/** `drive, writing`, with how often if the repetitions disagree. */
export function bottleneckText(cell: CellSummary): string | null {
  const { bottleneck, repetitions } = cell;
  if (bottleneck === null) {
    return null;
  }
  return bottleneck.repetitions === repetitions
    ? bottleneck.name
    : `${bottleneck.name} (${bottleneck.repetitions} of ${repetitions} runs)`;
}

function limitColumns(page: Page): Column[] {
  const share = (title: string, key: keyof Used): Column => ({
    title,
    unit: "%",
    values: page.cells.map((cell) => {
      const used = cell.utilization?.[key] ?? null;
      return used === null ? null : used * 100;
    }),
    show: (values) => percents(values.map((value) => (value === null ? null : value / 100))),
    strong: (value) => typeof value === "number" && value >= page.saturated_share * 100,
  });
  const cores = (title: string, key: keyof Used): Column => ({
    title,
    unit: "cores",
    values: page.cells.map((cell) => cell.utilization?.[key] ?? null),
  });
  return [
    { title: "Combination", values: page.cells.map((cell) => cell.label) },
    { title: "Limited by", values: page.cells.map(bottleneckText) },
    share("Host CPU", "host_cpu"),
    cores("Server", "server_cores"),
    share("Load engine", "client_cpu"),
    cores("Drive emulation", "drive_cores"),
    cores("Other processes", "other_cores"),
    share("Drive reads", "drive_read"),
    share("Drive writes", "drive_write"),
    share("I/O wait", "iowait"),
    share("Stolen", "steal"),
  ];
}

function latencies(page: Page): HTMLElement {
  const column = (title: string, key: Exclude<keyof Latency, "p95_range" | "p99_range">): Column => ({
    title,
    unit: "ms",
    values: page.cells.map((cell) => cell.latency_ms?.[key] ?? null),
  });
  const columns: Column[] = [
    { title: "Combination", values: page.cells.map((cell) => cell.label) },
    column("p50", "p50"),
    column("p95", "p95"),
    column("p99", "p99"),
    column("p99.9", "p999"),
    column("max", "max"),
    column("mean", "mean"),
    { title: "Retried", unit: "transactions", values: page.cells.map((cell) => cell.errors), show: show.integers },
  ];
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "Latency of transactions"),
    table(columns, "Latency of transactions"),
    h("p", { class: "note" }, "Medians over the repetitions. Retried: transactions that failed by deadlock or lock timeout and ran again, all repetitions together."),
    downloadButton(page.title, "latency", () => columns),
  );
}
