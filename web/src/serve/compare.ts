// Two results set against each other: the verdicts of `weir compare`.

import { h, prose } from "../dom";
import { forest, rowOfAnswer } from "../forest";
import { answerList, rankedList } from "../sections/answers";
import { api, type ComparisonAnswer } from "./api";

export async function compareView(parameters: URLSearchParams): Promise<HTMLElement> {
  const a = parameters.get("a") ?? "";
  const b = parameters.get("b") ?? "";
  return draw(a, b, await api.compare(a, b));
}

function draw(a: string, b: string, compared: ComparisonAnswer): HTMLElement {
  return h(
    "section",
    { id: "compare", "aria-labelledby": "compare-title" },
    h("h2", { id: "compare-title" }, "Two results compared"),
    h("dl", { class: "setup" }, ...[["A", a], ["B", b], ["Compared", compared.basis]].map(([label, text]) => h("div", {}, h("dt", {}, label ?? ""), h("dd", {}, text ?? "")))),
    compared.differences.length === 0 ? null : h("h3", { class: "sub" }, "What differs besides the numbers"),
    compared.differences.length === 0 ? null : h("ul", { class: "insights" }, ...compared.differences.map((text) => h("li", {}, prose(text)))),
    ...(compared.answers.length === 0 ? [h("p", { class: "caution" }, "Nothing in them can be compared.")] : answerList(compared.answers)),
    ...rankedList(compared.ranked),
    compared.answers.length === 0 ? null : forest("Comparisons", compared.answers.map(rowOfAnswer)),
  );
}
