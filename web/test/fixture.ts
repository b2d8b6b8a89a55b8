import { readFileSync } from "node:fs";
import { parsePage, type Page } from "../src/page";

/** What weir-report writes for a study of 4 combinations and 3 repetitions. */
export const text = readFileSync(new URL("../fixtures/result.json", import.meta.url), "utf8");
export const page: Page = parsePage(text);
