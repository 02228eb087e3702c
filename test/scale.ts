/*
 * The scale of expensive tests: how many schedules, texts, jobs, kills and crash points they try. `TEST_SCALE` sets it.
 * Without it (`npm test`) each test does the minimum that still tests its promise; 1 is the full run
 * (`npm run test:long`), and 100 on one file is an overnight search.
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

/** About `small` of the items, evenly spread from a random start, so that each is tried sometimes. All in a full run. */
export function sampled<T>(small: number, items: readonly T[]): readonly T[] {
  const stride = Math.max(1, items.length / scaled(small, items.length));
  const start = Math.random() * stride;
  return items.filter((_, index) => (index + start) % stride < 1);
}
