import { describe, expect, test } from 'vitest';
import { RequeueError, type SendContext, UnfinishedError } from '../../../../lib/jobs/send-context.ts';
import { scoreRunner } from '../../../../lib/jobs/types/score/runner.ts';
import { PlatformError } from '../../../../lib/platform/platform-error.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';
import { type Fault, type FaultPlan, faultyPlatform } from '../../texts/batch/faulty-platform.ts';
import { worker } from '../../texts/fakes.ts';

const job = {
  version: 1,
  type: 'score',
  id: 'job-1',
  texts: ['a', 'b', 'c', 'd', 'e'].map((text) => ({ id: text, text })),
} as const;

/** Runs the job on a platform with these faults. `thrown`: what the runner threw. */
async function runOn(plan: Partial<FaultPlan>, turn: Partial<SendContext> = {}) {
  const platform = faultyPlatform({ ofText: new Map(), ofCalls: [], putOff: new Set(), ...plan });
  const { options, table, newToken, slept } = worker(platform.analyze);
  const { cache, now, sleep, random } = options;
  const run = scoreRunner({
    platform: { sentiment: { analyze: platform.analyze } },
    cache,
    batches: { store: createMemoryStore(), table, newToken, now },
    rate: 20,
    now,
    sleep,
    random,
  });
  const given: SendContext = {
    signal: new AbortController().signal,
    beforeSend: async () => undefined,
    onSend: () => undefined,
    ...turn,
  };
  const again = () =>
    run(job, given).then(
      (outcome) => ({ outcome, thrown: undefined }),
      (thrown: unknown) => ({ outcome: undefined, thrown }),
    );
  return { ...(await again()), again, platform, slept };
}

const responseOf = (thrown: unknown) =>
  thrown instanceof UnfinishedError ? JSON.parse(thrown.response) : undefined;

describe('a score job', () => {
  test('is done although a text got a 409 each time', async () => {
    const { outcome } = await runOn({ ofText: new Map<string, Fault>([['b', 409]]) });

    expect(outcome?.status).toBe('done');
    expect(JSON.parse(String(outcome?.response)).results).toMatchObject([
      { calls: 1 },
      { calls: 1, error: expect.stringContaining('409') },
      { calls: 1 },
      { calls: 1 },
      { calls: 1 },
    ]);
  });

  test('is requeued without counting a try if it scored something before it was stopped; the next try is judged by its failure', async () => {
    const { thrown, again } = await runOn({ ofText: new Map<string, Fault>([['b', 'lost']]) });

    const { thrown: next } = await again();

    expect(thrown).toBeInstanceOf(RequeueError);
    expect(next).toBeInstanceOf(UnfinishedError);
    expect((next as UnfinishedError).cause).toBeInstanceOf(PlatformError);
    expect(responseOf(next)).toMatchObject({ calls: 4 + 18, cached: 0, tokens: { output: 4 } });
    expect(responseOf(next).results[1]).toMatchObject({ id: 'b', calls: 18, paidAgain: 17 });
  });

  test('says that nothing was paid for if every request is refused', async () => {
    const { thrown, platform } = await runOn({ ofCalls: [{ from: 0, to: 1_000, fault: 401 }] });

    expect(responseOf(thrown)).toMatchObject({ calls: 0, tokens: { total: 0 } });
    expect(platform.seen.paid).toBe(0);
  });

  test('waits for as long as it takes once its calls leave, and is requeued if no call has left', async () => {
    const waited = await runOn({ putOff: new Set([5]) });
    const first = await runOn({ putOff: new Set([1]) });

    expect(waited.outcome?.status).toBe('done');
    expect(waited.slept[0]).toBe(40_000);
    expect(first.thrown).toMatchObject({ name: 'RequeueError', delayMs: 40_000 });
    expect(first.platform.seen.paid).toBeLessThanOrEqual(1);
  });

  test('pays for nothing if its turn ends just before a call leaves', async () => {
    const onSend = () => {
      throw new RequeueError('too late', 0);
    };

    const { thrown, platform } = await runOn({}, { onSend });

    expect(thrown).toBeInstanceOf(RequeueError);
    expect(platform.seen.paid).toBe(0);
  });

  test('starts no text after the time until which calls may be sent', async () => {
    const { thrown, platform } = await runOn({}, { lastSendMs: 1_000_000 });

    expect(thrown).toBeInstanceOf(RequeueError);
    expect(platform.seen.paid).toBe(0);
  });
});
