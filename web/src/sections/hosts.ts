// Load hosts, where several shared the load of a run.

import { h } from "../dom";
import { table } from "../table";
import type { Page } from "../page";

export function hosts(page: Page): HTMLElement[] {
  const rows = page.hosts;
  if (rows.length === 0) {
    return [];
  }
  return [
    h("h3", {}, "Load hosts"),
    table(
      [
        { title: "Combination", values: rows.map((row) => row.combination) },
        { title: "Run", values: rows.map((row) => row.repetition) },
        { title: "Agent", values: rows.map((row) => row.agent) },
        { title: "Connections", values: rows.map((row) => row.connections) },
        { title: "Transactions", values: rows.map((row) => row.transactions) },
        { title: "Cores used", values: rows.map((row) => row.cpu) },
        { title: "Clock error", unit: "us", values: rows.map((row) => row.clock_error_us) },
        { title: "Clock moved", unit: "us", values: rows.map((row) => row.clock_moved_us) },
        { title: "Began late", unit: "us", values: rows.map((row) => row.began_late_us) },
        { title: "Longest silence", unit: "s", values: rows.map((row) => row.longest_silence_s) },
      ],
      "Load hosts",
    ),
    h("p", { class: "note" }, page.host_note),
  ];
}
