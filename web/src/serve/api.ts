// How the server is asked (crates/weir-serve/src/api.rs). The types of its answers are made of Weir's, and server and page
// are one program, so that answers are taken as they are.

import type { ComparisonAnswer, RunPage, Runs } from "../types";
import type { Live, ErrorBody, Results, Session, Studies } from "./types";

export type { ComparisonAnswer, RunLine, RunPage } from "../types";
export type { Live, LiveStudy, Study, Summary } from "./types";

/** A request that the server refused, with its words. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, init);
  if (!response.ok) {
    const body = (await response.json().catch(() => null)) as ErrorBody | null;
    throw new Refused(response.status, body?.error ?? `the server answered ${response.status}`);
  }
  return response;
}

async function read<T>(path: string): Promise<T> {
  return (await (await ask(path)).json()) as T;
}

/** What changes must carry; only a page of this server can read it. */
async function post(path: string, body: unknown): Promise<void> {
  const { page_secret } = await read<Session>("/api/session");
  const headers = { "content-type": "application/json", "x-weir-page": page_secret };
  await ask(path, { method: "POST", headers, body: JSON.stringify(body) });
}

const query = (parameters: Record<string, string | number>): string =>
  new URLSearchParams(Object.entries(parameters).map(([key, value]) => [key, String(value)])).toString();

export const api = {
  results: () => read<Results>("/api/results"),
  studies: () => read<Studies>("/api/studies"),
  runs: (result: string) => read<Runs>(`/api/runs?${query({ result })}`),
  run: (parameters: Record<string, string | number>) => read<RunPage>(`/api/run?${query(parameters)}`),
  compare: (a: string, b: string) => read<ComparisonAnswer>(`/api/compare?${query({ a, b })}`),
  start: (name: string) => post("/api/studies/start", { study: name }),
  stop: () => post("/api/studies/stop", {}),
  login: async (token: string): Promise<void> => {
    const headers = { "content-type": "application/json" };
    await ask("/api/login", { method: "POST", headers, body: JSON.stringify({ token }) });
  },
};

/** Reads a message of the live view. */
export const parseLive = (text: string): Live => JSON.parse(text) as Live;

/** Address of a report; its name may have slashes, which separate folders. */
export const reportAddress = (name: string): string =>
  `/report/${name.split("/").map(encodeURIComponent).join("/")}`;
