// The history: all results of the folder, searched as one types, two of them to be compared.

import { h } from "../dom";
import { count, moment } from "../format";
import { api, reportAddress, type Summary } from "./api";
import { trendFigures } from "./trends";

/** Rows that are drawn at once; more on demand, so that thousands of results stay quick. */
const ROWS = 50;

export async function history(): Promise<{ element: HTMLElement; refresh: () => Promise<void> }> {
  let results: Summary[] = [];
  let shown = ROWS;
  const chosen = new Set<string>();
  const search = h("input", {
    type: "search",
    class: "search",
    placeholder: "Search title, question, server, drive, answer or folder",
    "aria-label": "Search results",
  });
  const total = h("p", { class: "note", role: "status" });
  const trends = h("div", { class: "trends" });
  const rows = h("div", { class: "results" });
  const more = h("button", { type: "button", class: "download" }, "Show more");
  const compare = h("button", { type: "button", class: "action", disabled: true }, "Compare two results");

  const choose = (name: string, box: HTMLInputElement): void => {
    if (box.checked) {
      chosen.add(name);
    } else {
      chosen.delete(name);
    }
    compare.disabled = chosen.size !== 2;
    compare.textContent = chosen.size < 2 ? `Compare two results (${chosen.size} chosen)` : "Compare the two chosen results";
  };
  const draw = (): void => {
    const found = matching(results, search.value);
    rows.replaceChildren(...found.slice(0, shown).map((result) => row(result, chosen, choose)));
    more.hidden = found.length <= shown;
    trends.replaceChildren(...trendFigures(found));
    total.textContent =
      results.length === 0
        ? "No results in this folder yet. Start a study above, or with `weir run` in a terminal."
        : found.length === results.length
          ? count(results.length, "result")
          : `${count(found.length, "result")} of ${count(results.length, "result").split(" ")[0] ?? ""}`;
  };
  search.addEventListener("input", () => {
    shown = ROWS;
    draw();
  });
  more.addEventListener("click", () => {
    shown += ROWS;
    draw();
  });
  compare.addEventListener("click", () => {
    // The older one is A, what the newer one is compared with.
    const [b = "", a = ""] = results.map(({ name }) => name).filter((name) => chosen.has(name));
    location.hash = `#compare?${new URLSearchParams({ a, b }).toString()}`;
  });
  const refresh = async (): Promise<void> => {
    results = (await api.results()).results;
    draw();
  };
  await refresh();
  const element = h(
    "section",
    { id: "history", "aria-labelledby": "history-title" },
    h("h2", { id: "history-title" }, "Results"),
    h("div", { class: "bar" }, search, compare),
    total,
    trends,
    rows,
    more,
  );
  return { element, refresh };
}

/** Results in which every word of `wanted` occurs. */
export function matching(results: readonly Summary[], wanted: string): Summary[] {
  const words = wanted.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) {
    return [...results];
  }
  return results.filter((result) => {
    const { name, title, question, server, drives, headline, started_at } = result;
    const text = [name, title, question, server, ...drives, headline, started_at].join(" ").toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function row(
  result: Summary,
  chosen: ReadonlySet<string>,
  choose: (name: string, box: HTMLInputElement) => void,
): HTMLElement {
  const box = h("input", { type: "checkbox", "aria-label": `Choose ${result.title} for a comparison`, checked: chosen.has(result.name) });
  box.addEventListener("change", () => choose(result.name, box));
  if (result.problem !== null) {
    return h("article", { class: "result" }, h("span", {}), h("div", {}, h("h3", {}, result.name), h("p", { class: "caution" }, result.problem)));
  }
  const runs = result.runs === result.runs_planned ? count(result.runs, "run") : `${result.runs} of ${count(result.runs_planned, "run")}`;
  const facts = [moment(result.started_at), result.server, ...result.drives, runs, result.name];
  return h(
    "article",
    { class: "result" },
    box,
    h(
      "div",
      {},
      h("h3", {}, h("a", { href: reportAddress(result.name) }, result.title)),
      h("p", { class: "question-line" }, result.question),
      h("p", { class: `headline ${result.verdict ?? ""}` }, result.headline),
      h(
        "p",
        { class: "facts" },
        ...facts.map((fact) => h("span", {}, fact)),
        h("a", { href: `#runs?${new URLSearchParams({ result: result.name }).toString()}` }, "runs over time"),
      ),
    ),
  );
}
