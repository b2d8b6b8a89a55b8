// Ticks for the figures that are drawn here.

import { ticks } from "d3-array";

/** From `low` to `high` with some air on a logarithmic axis, always with 1 in it. */
export function ratioDomain(values: readonly number[]): [number, number] {
  const usable = values.filter((value) => Number.isFinite(value) && value > 0);
  const low = Math.min(1, ...usable);
  const high = Math.max(1, ...usable);
  const air = Math.max((high / low) ** 0.08, 1.02);
  return [low / air, high * air];
}

/** Ticks of a ratio: even steps over a short range, 1-2-5 over a long one; 1 is always one of them. */
export function ratioTicks([low, high]: [number, number], wanted: number): number[] {
  const inside = (value: number): boolean => value >= low && value <= high;
  if (high / low < 4) {
    const even = ticks(low, high, wanted).filter(inside);
    return even.includes(1) || !inside(1) ? even : [...even, 1].sort((a, b) => a - b);
  }
  const decades: number[] = [];
  for (let exponent = Math.floor(Math.log10(low)); 10 ** exponent <= high; exponent += 1) {
    // By way of text: 2 * 10^-1 is not the double nearest to 0.2.
    decades.push(...[1, 2, 5].map((digit) => Number(`${digit}e${exponent}`)));
  }
  return decades.filter(inside);
}
