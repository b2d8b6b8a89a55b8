// Studies that run now: how far, how long, how fast, limited by what; and the buttons that start
// and stop one.

import { curvePanel, type Panel, type PanelData } from "../curves";
import { h } from "../dom";
import { count, integer, moment, NOTHING, number } from "../format";
import { show, table } from "../table";
import { api, Refused, type Live, type LiveStudy, type Study } from "./api";

/** The section, and what takes in the next message of the server. */
export function liveView(studies: readonly Study[]): { element: HTMLElement; update: (live: Live) => void } {
  const cards = new Map<string, Card>();
  const list = h("div", {});
  const own = h("div", { role: "status" });
  const control = starter(studies);
  const element = h(
    "section",
    { id: "live", "aria-labelledby": "live-title" },
    h("h2", { id: "live-title" }, "Running now"),
    list,
    own,
    control.element,
  );
  const update = (live: Live): void => {
    const names = new Set(live.running.map(({ name }) => name));
    for (const [name, card] of cards) {
      if (!names.has(name)) {
        card.element.remove();
        cards.delete(name);
      }
    }
    for (const running of live.running) {
      let card = cards.get(running.name);
      if (card === undefined) {
        card = new Card();
        cards.set(running.name, card);
        list.append(card.element);
      }
      card.update(running);
    }
    control.update(live);
    own.replaceChildren(...ownWords(live));
  };
  return { element, update };
}

/** What became of the study that was started here. */
function ownWords({ own, running }: Live): HTMLElement[] {
  if (own === null) {
    return running.length === 0 ? [h("p", { class: "prose" }, "No study is running in this folder.")] : [];
  }
  if (own.is_stopping) {
    return [h("p", { class: "prose" }, `Stopping ${own.study}: its server and its drive are taken down, complete runs are kept.`)];
  }
  if (own.is_running) {
    return running.length > 0 ? [] : [h("p", { class: "prose" }, `Starting ${own.study}.`)];
  }
  const failed = own.ended === "failed";
  return [
    h("p", { class: failed ? "caution" : "prose" }, `${own.study}: ${own.ended ?? ""}.`),
    ...(failed ? [h("pre", { class: "messages" }, own.lines.join("\n"))] : []),
  ];
}

function starter(studies: readonly Study[]): { element: HTMLElement; update: (live: Live) => void } {
  const choice = h("select", { "aria-label": "Study" }, ...studies.map(({ name, title }) => h("option", { value: name }, title || name)));
  const start = h("button", { type: "button", class: "action" }, "Start study");
  const stop = h("button", { type: "button", class: "action", hidden: true }, "Stop study");
  const question = h("p", { class: "note" });
  const problem = h("p", { class: "caution", role: "alert", hidden: true });
  const attempt = (button: HTMLButtonElement, act: () => Promise<void>): void => {
    button.addEventListener("click", () => {
      button.disabled = true;
      problem.hidden = true;
      act().catch((error: unknown) => {
        problem.textContent = error instanceof Refused ? error.message : "The server could not be reached.";
        problem.hidden = false;
        button.disabled = false;
      });
    });
  };
  attempt(start, () => api.start(choice.value));
  attempt(stop, () => api.stop());
  const ask = (): void => {
    question.textContent = studies.find(({ name }) => name === choice.value)?.question ?? "";
  };
  choice.addEventListener("change", ask);
  ask();
  const begin = h("div", { class: "bar" }, choice, start);
  return {
    element: h("div", { class: "block" }, ...(studies.length === 0 ? [] : [begin, question]), h("div", { class: "bar" }, stop), problem),
    update: ({ own, running }) => {
      const mine = own?.is_running ?? false;
      begin.hidden = mine || running.length > 0;
      question.hidden = begin.hidden;
      stop.hidden = !mine;
      stop.disabled = own?.is_stopping ?? false;
      start.disabled = begin.hidden;
    },
  };
}

const THROUGHPUT = { group: "", title: "Throughput", unit: "queries/s", series: ["queries"] };
const LATENCY = { group: "", title: "Latency of transactions", unit: "ms", series: ["p50", "p95", "p99"] };

/** One running study. */
class Card {
  readonly element = h("article", { class: "live" });
  private readonly head = h("div", {});
  private readonly now = h("dl", { class: "now" });
  private readonly limits = h("p", { class: "note" });
  private readonly finished = h("div", {});
  private readonly panels: [Panel, Panel];

  constructor() {
    const empty: PanelData = { times: [], mean: [[]] };
    this.panels = [
      curvePanel(THROUGHPUT, empty, { key: "live" }),
      curvePanel(LATENCY, { times: [], mean: [[], [], []] }, { key: "live" }),
    ];
    this.element.append(this.head, this.now, this.limits, h("div", { class: "panels" }, ...this.panels.map(({ element }) => element)), this.finished);
  }

  update(running: LiveStudy): void {
    const { run } = running;
    const share = running.runs_total === 0 ? 0 : running.runs_done / running.runs_total;
    const loading = running.step_share === null ? "" : ` (${integer(running.step_share * 100)} %)`;
    this.head.replaceChildren(
      h("h3", {}, running.title),
      h("p", { class: "question-line" }, running.question),
      h("progress", { max: 1, value: share, "aria-label": "Runs that are complete" }),
      h(
        "p",
        { class: "facts" },
        h("span", {}, `${running.runs_done} of ${count(running.runs_total, "run")} complete`),
        h("span", {}, `about ${count(Math.ceil(running.time_left_s / 60), "minute")} left`),
        h("span", {}, `began ${moment(running.started_at)}`),
        h("span", {}, running.is_own ? "started here" : "started in a terminal"),
      ),
      h("p", { class: "prose" }, run === null ? "" : `Run ${run.position}: ${run.label}, repetition ${run.repetition}: `, `${running.step}${loading}`),
    );
    const last = run?.seconds.at(-1);
    const fact = (name: string, value: string): HTMLElement => h("div", {}, h("dt", {}, name), h("dd", {}, value));
    this.now.replaceChildren(
      fact("queries/s", number(last?.queries_per_s ?? null)),
      fact("p95, ms", number(last?.latency_ms_p95 ?? null)),
      fact("p99, ms", number(last?.latency_ms_p99 ?? null)),
      fact("limited by", run?.limits?.bottleneck ?? NOTHING),
    );
    this.limits.textContent = run?.limits == null ? "" : `${run.limits.evidence}: ${run.limits.explanation}`;
    const seconds = run?.seconds ?? [];
    const times = seconds.map(({ time_s }) => time_s);
    this.panels[0].set({ times, mean: [seconds.map((second) => second.queries_per_s)] });
    this.panels[1].set({
      times,
      mean: [
        seconds.map((second) => second.latency_ms_p50),
        seconds.map((second) => second.latency_ms_p95),
        seconds.map((second) => second.latency_ms_p99),
      ],
    });
    this.finished.replaceChildren(...finishedTable(running));
  }
}

function finishedTable({ finished }: LiveStudy): HTMLElement[] {
  if (finished.length === 0) {
    return [];
  }
  const runs = finished.toReversed();
  return [
    h("h4", {}, "Latest complete runs"),
    table(
      [
        { title: "Run", values: runs.map(({ position }) => position), show: show.integers },
        { title: "Combination", values: runs.map(({ label }) => label) },
        { title: "Repetition", values: runs.map(({ repetition }) => repetition), show: show.integers },
        { title: "Throughput", unit: "queries/s", values: runs.map((run) => run.queries_per_s) },
        { title: "p99 latency", unit: "ms", values: runs.map((run) => run.latency_ms_p99) },
        { title: "Limited by", values: runs.map(({ bottleneck }) => bottleneck) },
      ],
      "Latest complete runs",
    ),
  ];
}
