import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { reopenChunk } from '../../../../lib/jobs/texts/batch/finish-batch.ts';
import { failChunk, scoreChunk } from '../../../../lib/jobs/texts/batch/score-chunk.ts';
import { splitBatch } from '../../../../lib/jobs/texts/batch/score-file.ts';
import { CACHE_PREFIX } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import type { ScoreJob } from '../../../../lib/jobs/types/score/message.ts';
import { scaled } from '../../../scale.ts';
import { crashing, row } from '../fakes.ts';
import { batchOf, partLines, summaryOf, type World, world } from './batch-suite.ts';
import { type Fault, type FaultPlan, faultyPlatform } from './faulty-platform.ts';

const NO_FAULTS: FaultPlan = { ofText: new Map(), ofCalls: [], putOff: new Set() };

const hundred = Array.from({ length: 100 }, (_, index) => row(index + 1, `text ${index}`));

const ofOneText = (fault: Fault) => faultyPlatform({ ...NO_FAULTS, ofText: new Map([['text 50', fault]]) });

const always = (fault: Fault) =>
  faultyPlatform({ ...NO_FAULTS, ofCalls: [{ from: 0, to: Number.POSITIVE_INFINITY, fault }] });

/** A world whose batch was split into chunks. */
async function splitWorld(
  rows: readonly ReturnType<typeof row>[],
  platform: ReturnType<typeof faultyPlatform>,
) {
  const one = world({}, { analyze: platform.analyze, paid: [] });
  await splitBatch(batchOf(rows), one.split);
  return one;
}

/** Runs a job as a queue would: again after each delay, and up to three times if it is stopped. Then its chunk fails. */
async function work(job: ScoreJob, { scoring, storage }: World): Promise<string> {
  for (let stops = 0; stops < 3; ) {
    const scored = await scoreChunk(job, { ...scoring, ...storage });
    if (scored.kind === 'scored') return 'done';
    await scoring.sleep(scored.kind === 'later' ? scored.delayMs : 60_000);
    if (scored.kind === 'stopped' && scored.progress === 0) stops += 1;
  }
  const { id, batch = '', chunk = 0 } = job;
  await failChunk({ batch, chunk }, { error: 'the job failed', jobId: id }, storage);
  return 'failed';
}

async function workAll(one: World): Promise<readonly string[]> {
  const ends: string[] = [];
  for (const job of one.messages) ends.push(await work(job, one));
  return ends;
}

test.each<[Fault, number]>([
  [401, 0],
  [500, 8 * 9],
  [400, 0],
])(
  'a %s for every text stops a chunk after a few, and what may have been paid is counted',
  async (fault, most) => {
    const platform = always(fault);
    const one = await splitWorld(hundred, platform);
    const [job] = one.messages;

    const scored = job && (await scoreChunk(job, { ...one.scoring, ...one.storage }));

    expect(scored).toMatchObject({ kind: 'stopped', isSystemic: true, progress: 0 });
    expect(platform.seen.paid).toBeLessThanOrEqual(most);
    const counted =
      scored?.kind === 'stopped' ? scored.results.reduce((sum, { calls }) => sum + calls, 0) : -1;
    expect(counted).toBe(platform.seen.paid);
  },
);

test('a text whose response is always lost does not stop the other texts, and fails alone when its job fails', async () => {
  const platform = ofOneText('lost');
  const one = await splitWorld(hundred, platform);

  expect(await workAll(one)).toEqual(['failed']);

  const summary = summaryOf(one.store);
  expect(summary).toMatchObject({ scored: 99, failed: 1, calls: platform.seen.paid });
  expect(partLines(one.store)[50]).toMatchObject({ line: 51, error: 'the job failed' });
});

test('after a stop, the calls in flight finish, no other call begins, and what was paid for is used later', async () => {
  const platform = faultyPlatform(NO_FAULTS);
  const one = await splitWorld(hundred, platform);
  const stop = new AbortController();
  const [job] = one.messages;
  const analyze: typeof platform.analyze = async (request, options) => {
    const sentiment = await platform.analyze(request, options);
    if (platform.seen.responses === 20) stop.abort(new Error('cancelled'));
    return sentiment;
  };

  const stopped =
    job && (await scoreChunk(job, { ...one.scoring, ...one.storage, analyze, signal: stop.signal }));
  const atStop = platform.seen.paid;
  await failChunk({ batch: 'b1', chunk: 0 }, { error: 'cancelled', jobId: job?.id ?? '' }, one.storage);

  expect(stopped).toMatchObject({ kind: 'stopped', error: { message: 'cancelled' } });
  expect(atStop).toBeLessThan(20 + 8);
  expect(summaryOf(one.store)).toMatchObject({ calls: atStop, scored: atStop, failed: 100 - atStop });
});

test('a chunk that is scored again pays only for texts without a score, even if the cache has lost the scores', async () => {
  const platform = faultyPlatform({
    ...NO_FAULTS,
    ofText: new Map<string, Fault>([
      ['text 50', 500],
      ['text 70', 409],
    ]),
  });
  const one = await splitWorld(hundred, platform);
  await workAll(one);
  const before = platform.seen.paid;
  for await (const { key, token } of one.table.scan(CACHE_PREFIX)) await one.table.delete(key, token);
  platform.heal();

  await reopenChunk({ batch: 'b1', chunk: 0 }, one.storage);
  await workAll(one);

  expect(platform.seen.paid - before).toBe(2);
  expect(summaryOf(one.store)).toMatchObject({ scored: 100, failed: 0, calls: platform.seen.paid });
  expect(summaryOf(one.store).tokens.output).toBe(100);
});

const fault = fc.constantFrom<Fault>(400, 401, 409, 429, 500, 'lost');

const faultPlans = fc.record({
  texts: fc.array(fc.nat(14), { minLength: 1, maxLength: 30 }),
  ofText: fc.array(fc.tuple(fc.nat(14), fault), { maxLength: 3 }),
  ofCalls: fc.array(fc.record({ from: fc.nat(40), length: fc.integer({ min: 1, max: 60 }), fault }), {
    maxLength: 2,
  }),
  putOff: fc.array(fc.nat(60), { maxLength: 5 }),
  kill: fc.option(fc.record({ at: fc.integer({ min: 1, max: 60 }), made: fc.boolean() })),
});

test('whatever fails, the counts equal the requests that the platform saw, also after the failed rows are scored', async () => {
  await fc.assert(
    fc.asyncProperty(faultPlans, async ({ texts, ofText, ofCalls, putOff, kill }) => {
      const platform = faultyPlatform({
        ofText: new Map(ofText.map(([text, each]) => [`text ${text}`, each])),
        ofCalls: ofCalls.map(({ from, length, ...rest }) => ({ from, to: from + length, ...rest })),
        putOff: new Set(putOff),
      });
      const rows = texts.map((text, index) => row(index + 1, `text ${text}`));
      const one = await splitWorld(rows, platform);
      if (kill !== null) await workUntilKilled(one, platform, kill);

      await workAll(one);
      const first = summaryOf(one.store);
      const firstSeen = { ...platform.seen };
      platform.heal();
      await reopenChunk({ batch: 'b1', chunk: 0 }, one.storage);
      await workAll(one);
      const second = summaryOf(one.store);

      for (const [summary, seen] of [
        [first, firstSeen],
        [second, platform.seen],
      ]) {
        expect(summary.rows).toBe(summary.scored + summary.failed);
        expect(summary.calls).toBeGreaterThanOrEqual(seen.paid);
        if (kill !== null) continue;
        expect(summary.calls).toBe(seen.paid);
        expect(summary.tokens.output).toBe(seen.responses);
        expect(summary.scored - summary.cached).toBe(seen.responses);
      }
      expect(second.failed).toBe(0);
      // No text is scored twice.
      if (kill === null) expect(platform.seen.responses).toBe(new Set(texts).size);
    }),
    { numRuns: scaled(60, 2_000) },
  );
});

/** Runs a worker that dies at its write number `at`, and lets its leases end. */
async function workUntilKilled(
  one: World,
  { analyze }: ReturnType<typeof faultyPlatform>,
  { at, made }: { readonly at: number; readonly made: boolean },
): Promise<void> {
  const dying = crashing(one, at, made);
  const store = { ...dying.store, objects: one.store.objects };
  const dead = world({ table: dying.table, store, owner: 'dead' }, { analyze, paid: [] });
  await work(one.messages[0] as ScoreJob, dead).catch(() => undefined);
  await one.scoring.sleep(dead.slept.reduce((sum, ms) => sum + ms, 200_000));
}
