// What the drive did: traffic by kind of file, and how far the emulation can be trusted.

import { barFigure } from "../bars";
import { h } from "../dom";
import { figure } from "../figure";
import { aligned, percents } from "../format";
import { middle, type CellTraffic, type Page } from "../page";
import { show, table, type Column } from "../table";
import { trafficBars } from "../traffic";
import { section } from "./section";

/** From this share of late operations on, the page says that the drive was slower than its profile. */
const LATE_SHARE_NOTED = 0.05;

export function drive(page: Page): HTMLElement | null {
  if (page.traffic.length === 0) {
    return null;
  }
  return section(
    "drive",
    "What did the drive do?",
    figure(page.title, {
      title: "The drive by kind of file",
      note: "What the server wrote to and read from the emulated drive during the measurement, mean of the repetitions: bytes, operations or mean latency. The line over the end of a part runs from the lowest to the highest repetition. Click a kind to hide it.",
      body: trafficBars(page),
      columns: trafficColumns(page),
    }),
    amplification(page),
    emulation(page),
  );
}

/** How many bytes the media write for one of the server's. */
function amplification(page: Page): HTMLElement | null {
  const rows = page.traffic.filter((cell) => cell.media_bytes_per_host_byte !== null);
  if (rows.length === 0) {
    return null;
  }
  const labels = rows.map((cell) => page.cells[cell.cell]?.label ?? "");
  return figure(page.title, {
    title: "Write amplification",
    note: "Bytes that the drive's media write for each byte that the server writes: below 1 with compression, above 1 with garbage collection. The line over a bar runs from the lowest to the highest repetition.",
    body: barFigure("Write amplification", {
      parts: [{ name: "bytes on the media per byte written", color: "c0" }],
      rows: rows.map((cell, index) => ({ label: labels[index] ?? "", sides: [{ name: "", values: [cell.media_bytes_per_host_byte] }] })),
      unit: "bytes per byte",
      mark: 1,
    }),
    columns: [
      { title: "Combination", values: labels },
      { title: "Media", unit: "bytes per byte written", values: rows.map((cell) => middle(cell.media_bytes_per_host_byte)) },
      { title: "Stored", unit: "bytes per byte written", values: rows.map((cell) => cell.compressed_fraction) },
    ],
  });
}

type Measure = Exclude<keyof CellTraffic["kinds"][number], "name">;

function trafficColumns(page: Page): Column[] {
  const rows = page.traffic.flatMap((cell) =>
    cell.kinds.map((kind) => ({ label: page.cells[cell.cell]?.label ?? "", kind })),
  );
  const column = (title: string, unit: string, key: Measure): Column => ({
    title,
    unit,
    values: rows.map(({ kind }) => middle(kind[key])),
    show: show.each,
  });
  return [
    { title: "Combination", values: rows.map(({ label }) => label) },
    { title: "Files", values: rows.map(({ kind }) => kind.name) },
    column("Reads", "per s", "reads_per_s"),
    column("Reads", "MB/s", "read_mb_per_s"),
    column("Read latency", "mean, \u00b5s", "read_latency_us_mean"),
    column("Writes", "per s", "writes_per_s"),
    column("Writes", "MB/s", "write_mb_per_s"),
    column("Write latency", "mean, \u00b5s", "write_latency_us_mean"),
    column("Flushes", "per s", "flushes_per_s"),
    column("Flush latency", "mean, \u00b5s", "flush_latency_us_mean"),
  ];
}

function emulation(page: Page): HTMLElement {
  const column = (title: string, unit: string, key: Exclude<keyof CellTraffic, "kinds" | "cell" | "media_bytes_per_host_byte">, format = aligned): Column => ({
    title,
    unit,
    values: page.traffic.map((cell) => cell[key]),
    show: format,
  });
  const columns: Column[] = [
    { title: "Combination", values: page.traffic.map((cell) => page.cells[cell.cell]?.label ?? "") },
    column("Stored", "per byte written", "compressed_fraction"),
    { title: "Media", unit: "per byte written", values: page.traffic.map((cell) => middle(cell.media_bytes_per_host_byte)) },
    column("Lateness p50", "\u00b5s", "lateness_us_p50"),
    column("Lateness p99", "\u00b5s", "lateness_us_p99"),
    column("Late operations", "%", "late_share", percents),
  ];
  const late = page.traffic.filter((cell) => (cell.late_share ?? 0) >= LATE_SHARE_NOTED);
  const warning = late.map((cell) => `${page.cells[cell.cell]?.label ?? ""} (${percents([cell.late_share])[0] ?? ""} %)`);
  return h(
    "div",
    { class: "block" },
    h("h3", {}, "How true was the emulated drive?"),
    table(columns, "How true the emulated drive was"),
    h(
      "p",
      { class: "note" },
      "Stored: after the drive's compression. Media: after compression and garbage collection. Lateness: how much later " +
        "than the profile says an operation completed, worst repetition. Late: more than 10\u00a0\u00b5s and 5\u00a0% later.",
    ),
    late.length === 0
      ? null
      : h(
          "p",
          { class: "caution" },
          `The emulation could not keep up in ${warning.join(", ")}: these combinations ran on a drive somewhat slower than its ` +
            "data sheet. Their throughput may be understated; scale the drives down further or use a host with more cores.",
        ),
  );
}
