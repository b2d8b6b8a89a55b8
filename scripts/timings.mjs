// Prints the slowest units of a build from the page that `cargo build --timings` writes: `node timings.mjs PAGE [TABLE.json]`.
import { readFileSync, writeFileSync } from "node:fs";

const [page, table] = process.argv.slice(2);
if (page === undefined) {
  throw new Error("PAGE is missing; it is target/cargo-timings/cargo-timing.html");
}
const data = /UNIT_DATA = (\[[\s\S]*?\]);/.exec(readFileSync(page, "utf8"));
if (data === null) {
  throw new Error(`\`${page}\` has no units; was it written by \`cargo build --timings\`?`);
}
const units = JSON.parse(data[1])
  .map((unit) => ({ unit: `${unit.name} ${unit.version}${unit.target}`, start_s: unit.start, duration_s: unit.duration }))
  .sort((a, b) => b.duration_s - a.duration_s);
const wall_s = Math.max(...units.map((unit) => unit.start_s + unit.duration_s));
const sum_s = units.reduce((sum, unit) => sum + unit.duration_s, 0);
for (const { unit, duration_s } of units.slice(0, 40)) {
  console.log(`${duration_s.toFixed(1).padStart(7)} s  ${unit}`);
}
console.log(`${units.length} units, ${sum_s.toFixed(0)} s of work in ${wall_s.toFixed(0)} s`);
if (table !== undefined) {
  writeFileSync(table, `${JSON.stringify({ wall_s, sum_s, units }, null, 1)}\n`);
}
