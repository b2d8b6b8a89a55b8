// Numbers as text: grouped thousands, a unit beside every number, no digits that are not known.

const formats = new Map<number, Intl.NumberFormat>();

function fixed(value: number, decimals: number): string {
  let format = formats.get(decimals);
  if (format === undefined) {
    format = new Intl.NumberFormat("en", {
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
    });
    formats.set(decimals, format);
  }
  return format.format(value);
}

/** What stands where there is no number. */
export const NOTHING = "\u2013";

/** Three significant digits, but never fewer than the whole part: `4,482`, `12.3`, `0.126`. */
export function number(value: number | null): string {
  if (value === null) {
    return NOTHING;
  }
  if (value === 0) {
    return "0";
  }
  const decimals = Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(Math.abs(value)))));
  return fixed(value, decimals);
}

/** A column of numbers with the same decimals, so that their points align: as many as its largest
 * value has in three significant digits. */
export function aligned(values: readonly (number | null)[]): string[] {
  const largest = Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));
  const decimals =
    largest === 0 ? 0 : Math.max(0, Math.min(3, 2 - Math.floor(Math.log10(largest))));
  return values.map((value) => (value === null ? NOTHING : fixed(value, decimals)));
}

/** A column of shares from 0 to 1 in per cent, without the sign; one decimal if all are below 10 %. */
export function percents(shares: readonly (number | null)[]): string[] {
  const small = shares.every((share) => Math.abs(share ?? 0) < 0.0995);
  return shares.map((share) => (share === null ? NOTHING : fixed(share * 100, small ? 1 : 0)));
}

/** A whole number. */
export function integer(value: number | null): string {
  return value === null ? NOTHING : fixed(value, 0);
}

/** A tick of an axis: no zeros behind the point. */
export function tick(value: number): string {
  return new Intl.NumberFormat("en", { maximumFractionDigits: 3 }).format(value);
}

/** The size of a buffer pool: `1.5 GiB`, `768 MiB`. */
export function gibibytes(bytes: number): string {
  return bytes >= 2 ** 30 ? `${tick(bytes / 2 ** 30)} GiB` : `${tick(Math.round(bytes / 2 ** 20))} MiB`;
}

/**
 * A mean, rounded to what its repetitions allow: the last digit shown is no finer than a tenth of
 * the range between the lowest and the highest.
 */
export function meanWithin(mean: number | null, low: number | null, high: number | null): string {
  if (mean === null || low === null || high === null) {
    return NOTHING;
  }
  const range = high - low;
  if (range <= 0) {
    return number(mean);
  }
  const exponent = Math.floor(Math.log10(range / 10) + 1e-9);
  const step = 10 ** exponent;
  return exponent >= 0 ? fixed(Math.round(mean / step) * step, 0) : fixed(mean, Math.min(3, -exponent));
}

/** `2026-03-14T09:26:53Z` as `2026-03-14 09:26 UTC`; anything else as it is. */
export function moment(text: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::[\d.]+)?(Z|[+-]\d\d:?\d\d)$/.exec(text);
  if (match === null) {
    return text;
  }
  const [, day, time, zone] = match;
  return `${day} ${time} ${zone === "Z" || zone === "+00:00" ? "UTC" : zone}`;
}

/** `1 run`, `3 runs`. */
export function count(amount: number, noun: string): string {
  return `${fixed(amount, 0)} ${noun}${amount === 1 ? "" : "s"}`;
}

/** A name for a downloaded file: small letters, digits and single hyphens. */
export function fileName(title: string, figure: string): string {
  const slug = `${title} ${figure}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return `${slug.slice(0, 80)}.csv`;
}

/** Words that weir-report wrote as a sentence: a capital, unless a name stands first, and a period. */
export function sentence(text: string): string {
  const begin = /^[a-z]+[ :]/.test(text) ? text.slice(0, 1).toUpperCase() : text.slice(0, 1);
  return `${begin}${text.slice(1)}.`;
}
