import type { rateOf } from '../../lib/pace/throttle-state.ts';

/** A throttled budget: the platform refuses calls since `refusedAtMs`. */
export const refusedAt = (
  refusedAtMs: number,
  given: Partial<Extract<NonNullable<Parameters<typeof rateOf>[0]>, { readonly kind: 'refused' }>> = {},
): NonNullable<Parameters<typeof rateOf>[0]> => ({
  kind: 'refused',
  rate: 10,
  granted: 0,
  refusals: 1,
  firstAtMs: refusedAtMs,
  refusedAtMs,
  closedUntilMs: refusedAtMs,
  nextMs: refusedAtMs,
  ...given,
});

/** A budget that has recovered to `rate`, its last known limit. */
export function learnedTo(
  rate: number,
  atMs: number,
  granted = 0,
): NonNullable<Parameters<typeof rateOf>[0]> {
  const at = { atMs, granted };
  return { kind: 'learned', rate, limit: rate, at, stepMs: 30_000, busySince: at };
}
