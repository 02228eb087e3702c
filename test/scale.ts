/*
 * How much the expensive tests do: how many schedules, texts, jobs, kills and crash points. `TEST_SCALE` is the one
 * variable: without it (`npm test`) each test does the least that still shows its promise, 1 is the full run (`npm run
 * test:long`), and 100 on one file is a search overnight.
 */

const SCALE = readScale(process.env['TEST_SCALE']);

function readScale(text = ''): number {
  const scale = Number(text);
  if (scale >= 0 && Number.isFinite(scale)) return scale;
  throw new Error(`TEST_SCALE: expected a number from 0, got ${text}`);
}

/** `whole` multiplied by the scale, but at least `small`. */
export const scaled = (small: number, whole: number): number => Math.max(small, Math.ceil(whole * SCALE));

/** Whether this is the full run, which also writes pages that a sample cannot. */
export const isWhole = SCALE >= 1;

/** Milliseconds that a scaled test may take: `wholeMs` for the full run, and never less than four minutes. */
export const scaledTimeout = (wholeMs: number): number => scaled(240_000, wholeMs);

/** About `small` of these, evenly spread; in a full run, all of them. Begins at a random one, so that each has its turn. */
export function sampled<T>(small: number, items: readonly T[]): readonly T[] {
  const stride = Math.max(1, items.length / scaled(small, items.length));
  const start = Math.random() * stride;
  return items.filter((_, index) => (index + start) % stride < 1);
}
