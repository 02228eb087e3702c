import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { OpenBreaker } from './breaker.ts';

/** The breaker that a budget's item holds; undefined if it is closed. */
export function breakerOf(
  item: Readonly<Record<string, AttributeValue>> | undefined,
): OpenBreaker | undefined {
  const { breakerSince: since, breakerProbeAt: probeAt, breakerCause: cause } = item ?? {};
  if (since?.N === undefined || probeAt?.N === undefined) return undefined;
  return { sinceMs: Number(since.N), cause: cause?.S ?? 'unknown', probeAtMs: Number(probeAt.N) };
}
