// The distribution's Chromium, without network, sandbox or anything that phones home.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { chromium, type Browser } from "playwright-core";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function executable(): string {
  const named = process.env["CHROMIUM"];
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const found = folders
    .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
    .find((file) => existsSync(file));
  const chosen = named ?? found;
  if (chosen === undefined) {
    throw new Error("no Chromium in PATH; install the package `chromium` or set CHROMIUM to its program");
  }
  return chosen;
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: executable(), args: FLAGS });
}
