// Hosts of servers that the user gives, where agents there sampled them.

import { h } from "../dom";
import { table } from "../table";
import type { Page } from "../page";

export function serverHosts(page: Page): HTMLElement[] {
  const rows = page.server_hosts;
  if (rows.length === 0) {
    return [];
  }
  return [
    h("h3", {}, "Server hosts"),
    table(
      [
        { title: "Combination", values: rows.map((row) => row.combination) },
        { title: "Run", values: rows.map((row) => row.repetition) },
        { title: "Agent", values: rows.map((row) => row.agent) },
        { title: "Cores and memory", values: rows.map((row) => row.cores) },
        { title: "Cores busy", values: rows.map((row) => row.busy) },
        { title: "Stolen", values: rows.map((row) => row.stolen) },
        { title: "Device busy", values: rows.map((row) => row.device) },
        { title: "Other programs", values: rows.map((row) => row.others) },
        { title: "Not sampled", values: rows.map((row) => row.missing) },
      ],
      "Server hosts",
    ),
    h("p", { class: "note" }, page.server_host_note),
  ];
}
