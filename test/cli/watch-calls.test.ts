import { expect, test } from 'vitest';
import { watchCalls } from '../../lib/cli/texts/watch-calls.ts';
import type { Analyze } from '../../lib/jobs/texts/scoring/run.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';

const refused: PlatformFailure = { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' };
const busy: PlatformFailure = { kind: 'status', status: 503 };
const screen = { columns: 80 } as never;

const failed = (failure: PlatformFailure) =>
  new PlatformError(failure, { operation: 'analyzeSentiment', about: 'sentiment of a text', attempts: 1 });

/** Calls at these seconds, each of which ends so; returns the signal. */
async function callsAt(calls: Readonly<Record<number, PlatformFailure | 'scored'>>, isWatched = true) {
  let at = 0;
  let end: PlatformFailure | 'scored' = 'scored';
  const analyze: Analyze = async () => {
    if (end !== 'scored') throw failed(end);
    return { type: 'DEFAULT', sentiment: 'positive' } as never;
  };
  const guarded = watchCalls({
    analyze,
    screen: isWatched ? screen : undefined,
    signal: new AbortController().signal,
    now: () => at * 1_000,
  });
  for (const [second, how] of Object.entries(calls)) {
    [at, end] = [Number(second), how];
    await guarded.analyze({} as never).catch(() => undefined);
  }
  return guarded.signal;
}

test('a platform that no call has reached for five seconds ends a batch that somebody watches', async () => {
  const signal = await callsAt({ 0: refused, 4: refused, 5: refused });

  expect(signal.reason).toBeInstanceOf(PlatformError);
});

test.each([
  ['it is not five seconds yet', { 0: refused, 4.9: refused }, true],
  ['a call was scored', { 0: 'scored', 9: refused }, true],
  ['a call had a response', { 0: busy, 9: refused }, true],
  ['nobody watches', { 0: refused, 9: refused }, false],
] as const)('it does not if %s', async (_, calls, isWatched) => {
  expect((await callsAt(calls, isWatched)).aborted).toBe(false);
});
