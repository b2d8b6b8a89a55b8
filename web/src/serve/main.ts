// The application of `weir serve`: what runs now and all results; an address of its own for each
// view, so that a reload or a link leads back to it.

import "uplot/dist/uPlot.min.css";
import "../style/page.css";
import "../style/answers.css";
import "../style/figures.css";
import "../style/tables.css";
import "../style/serve.css";
import "../style/narrow-and-print.css";
import { h } from "../dom";
import { api, parseLive, Refused, type Live } from "./api";
import { compareView } from "./compare";
import { history } from "./history";
import { liveView } from "./live";
import { runsView, runView } from "./runs";

const root = document.getElementById("app") ?? document.body;
const view = h("div", {});
const offline = h("p", { class: "caution", role: "alert", hidden: true }, "The server does not answer; this page goes on when it does.");
let latest: Live | null = null;
let onLive: (live: Live) => void = () => {};

function frame(): void {
  root.replaceChildren(
    h("header", { class: "site" }, h("p", { class: "eyebrow" }, h("a", { href: "#" }, "Weir")), h("h1", {}, "Studies and results")),
    offline,
    view,
  );
}

async function home(): Promise<HTMLElement> {
  const { studies } = await api.studies();
  const [live, results] = [liveView(studies), await history()];
  let version = latest?.results_version ?? -1;
  onLive = (now) => {
    live.update(now);
    if (now.results_version !== version) {
      version = now.results_version;
      results.refresh().catch(() => {});
    }
  };
  if (latest !== null) {
    onLive(latest);
  }
  return h("div", {}, live.element, results.element);
}

const VIEWS: Record<string, (parameters: URLSearchParams) => Promise<HTMLElement>> = {
  "": home,
  compare: compareView,
  runs: runsView,
  run: runView,
};

async function navigate(): Promise<void> {
  const [name = "", parameters = ""] = location.hash.slice(1).split("?");
  const make = VIEWS[name] ?? home;
  const hash = location.hash;
  onLive = () => {};
  root.setAttribute("aria-busy", "true");
  try {
    const element = await make(new URLSearchParams(parameters));
    if (hash === location.hash) {
      view.replaceChildren(element);
      scrollTo(0, 0);
    }
  } catch (error) {
    view.replaceChildren(error instanceof Refused && error.status === 401 ? login(error.message) : failure(error));
  }
  root.removeAttribute("aria-busy");
}

function failure(error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error);
  return h("p", { class: "failure", role: "alert" }, message, " ", h("a", { href: "#" }, "Back to all results"));
}

function login(why: string): HTMLElement {
  const token = h("input", { type: "password", class: "search", autocomplete: "current-password", "aria-label": "Token" });
  const problem = h("p", { class: "note", role: "alert" }, why);
  // A password manager keeps a password under a name: everybody's here.
  const name = h("input", { type: "text", autocomplete: "username", value: "weir", hidden: true });
  const form = h("form", { class: "bar" }, name, token, h("button", { type: "submit", class: "action" }, "Open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    api.login(token.value).then(
      () => start(),
      (error: unknown) => {
        problem.textContent = error instanceof Error ? error.message : String(error);
      },
    );
  });
  return h("section", {}, h("h2", {}, "Who is there?"), problem, form);
}

let source: EventSource | undefined;

function watch(): void {
  source?.close();
  source = new EventSource("/api/live");
  source.addEventListener("message", (event: MessageEvent<string>) => {
    offline.hidden = true;
    latest = parseLive(event.data);
    onLive(latest);
  });
  source.addEventListener("error", () => {
    offline.hidden = false;
  });
}

async function start(): Promise<void> {
  frame();
  await navigate();
  // Asked only after the server has answered: a refused stream would be asked for again for ever.
  if (view.querySelector("form") === null) {
    watch();
  }
}

addEventListener("hashchange", () => void navigate());
void start();
