// Elements from code. Text of a study only ever becomes a text node or an attribute's value: nothing
// in this page parses it as HTML.

type Child = Node | string | null;
type Attributes = Record<string, string | number | boolean>;

const SVG = "http://www.w3.org/2000/svg";

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A paragraph in which names between backticks are set as code and units stay with their number. */
export function prose(text: string, ...before: Child[]): HTMLParagraphElement {
  const parts = text.replaceAll(/(\d) (?=%|repetition|s\b)/g, "$1\u00a0").split("`");
  // An odd number of backticks quotes nothing: the text stays as it is.
  const quoted = parts.length % 2 === 1;
  const children = quoted ? parts.map((part, index) => (index % 2 === 1 ? h("code", {}, part) : part)) : [text];
  return h("p", {}, ...before, ...children);
}

/** A fold whose content is made when it is first opened: most readers open few of them. */
export function fold(attributes: Attributes, title: string, content: () => readonly Child[]): HTMLElement {
  const details = h("details", attributes, h("summary", {}, title));
  const build = (): void => details.append(...content().filter((child) => child !== null));
  if (details.open) {
    build();
  } else {
    details.addEventListener("toggle", build, { once: true });
  }
  return details;
}

/** Calls `draw` once, soon after `element` comes near the visible part of the page, or at once when the page is
 * to be printed; gives what calls that off. */
export function whenNear(element: HTMLElement, draw: () => void): () => void {
  const stop = (): void => {
    observer.disconnect();
    removeEventListener("beforeprint", once);
    waiting.delete(once);
  };
  const once = (): void => {
    stop();
    draw();
  };
  const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && drawSoon(once), {
    rootMargin: "600px",
  });
  observer.observe(element);
  addEventListener("beforeprint", once);
  return stop;
}

/** What drawing may take of a frame of 16 ms, so that the page answers while dozens of charts are drawn. */
const FRAME_MS = 12;

/** What is to be drawn, in the order in which it was seen. */
const waiting = new Set<() => void>();

/** Until when there may be drawn in this frame; `null` when nothing was drawn in the last one. */
let end_ms: number | null = null;

/** Draws at once if this frame has time left, or else in one of the next. */
function drawSoon(draw: () => void): void {
  waiting.add(draw);
  if (end_ms === null) {
    beginFrame();
  }
  drawSome();
}

function beginFrame(): void {
  end_ms = performance.now() + FRAME_MS;
  requestAnimationFrame(() => {
    if (waiting.size === 0) {
      end_ms = null;
      return;
    }
    beginFrame();
    drawSome();
  });
}

function drawSome(): void {
  for (const draw of waiting) {
    if (performance.now() >= (end_ms ?? 0)) {
      break;
    }
    waiting.delete(draw);
    draw();
  }
}

/** Width of the longest text in pixels, at the size of the figures' labels. */
export function labelWidth(texts: readonly string[]): number {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) {
    return 0;
  }
  context.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  return Math.ceil(Math.max(0, ...texts.map((text) => context.measureText(text).width)));
}

/** Calls `draw` with the element's width in pixels: at once when it is shown, and on each change; `gone` when
 * it has left the page. */
export function onWidth(element: HTMLElement, draw: (width: number) => void, gone: () => void = () => {}): void {
  let drawn = 0;
  new ResizeObserver(() => {
    if (!element.isConnected) {
      gone();
      return;
    }
    const width = Math.floor(element.clientWidth);
    if (width > 0 && width !== drawn) {
      drawn = width;
      draw(width);
    }
  }).observe(element);
}
