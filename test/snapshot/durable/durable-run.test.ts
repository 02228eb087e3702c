import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import type { Call, CallOptions } from '../../../lib/platform/call.ts';
import { PlatformError } from '../../../lib/platform/platform-error.ts';
import { startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import {
  type DurableRunOptions,
  type DurableSteps,
  takeDurableSnapshot,
} from '../../../lib/snapshot/durable/durable-snapshot.ts';
import type { Manifest } from '../../../lib/snapshot/manifest.ts';
import { readLatest } from '../../../lib/snapshot/manifest.ts';
import { readLastPublication } from '../../../lib/snapshot/publish/publish-parts.ts';
import { scanOfRun } from '../../../lib/snapshot/run/begin-run.ts';
import { readCheckpoint } from '../../../lib/snapshot/run/checkpoint.ts';
import { SnapshotStoppedError } from '../../../lib/snapshot/run/snapshot-stopped-error.ts';
import { type Saved, takeSlice } from '../../../lib/snapshot/run/take-run.ts';
import type { SnapshotRequest } from '../../../lib/snapshot/sources/request.ts';
import type { Store } from '../../../lib/store/store.ts';
import { scaled } from '../../scale.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { type FakeDurableOptions, type Mishap, runDurable } from '../fake-durable.ts';
import { callOf } from '../sandbox-call.ts';
import { type FileChange, simulateFiles } from '../simulated-files.ts';

type RunEnd = Parameters<NonNullable<DurableRunOptions['onEnded']>>[0];

const CALCULATIONS = 500;

let store: Store;
let moved: number;

const sandbox = await startPlatform({
  calculations: CALCULATIONS,
  datasets: 6,
  cards: 40,
  fileSets: 0,
  dataFiles: 0,
});

afterAll(() => sandbox.close());

function openStore() {
  const inner = createMemoryStore();
  moved = 0;
  const put: Store['put'] = async (key, ...rest) => {
    const result = await inner.put(key, ...rest);
    if (key.endsWith('latest.json') && result.kind === 'stored') moved += 1;
    return result;
  };
  return { ...inner, put };
}

beforeEach(() => {
  store = openStore();
});

/** Slices of one page each. By default a page has a twentieth of all calculations. */
const optionsOf = (differences: Partial<DurableRunOptions> = {}): DurableRunOptions => ({
  call: callOf(sandbox),
  store,
  compression: 'gzip',
  host: 'acme.example.com',
  callCounts: () => ({ requests: 0, retries: 0, throttled: 0, waitedMs: 0 }),
  now: Date.now,
  random: Math.random,
  sleep: async () => undefined,
  sliceMs: 0,
  pageRows: CALCULATIONS / 20,
  ...differences,
});

const calculations: SnapshotRequest = { source: 'calculations' };
const cards: SnapshotRequest = { source: 'cards', drill: true };
const files: SnapshotRequest = { source: 'files', filesets: ['0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11'] };

const take = (differences: Partial<DurableRunOptions> = {}, durable: FakeDurableOptions = {}) =>
  runDurable(
    (steps) => takeDurableSnapshot({ request: calculations, followers: [] }, steps, optionsOf(differences)),
    durable,
  );

const stepsOf = (stored: readonly { readonly kind: string }[]) =>
  stored.filter(({ kind }) => kind === 'step');

async function published(place: 'calculations' | 'cards' | 'files' = 'calculations') {
  const { manifest } = await readLastPublication(store, place);
  if (manifest === undefined) throw new Error('expected a published run, got none');
  return { manifest, lines: await linesOf(manifest) };
}

async function linesOf({ parts }: Manifest): Promise<readonly string[]> {
  const bodies = await Promise.all(
    parts.map(async ({ key }) => (await store.get(key))?.body ?? Buffer.alloc(0)),
  );
  return bodies.flatMap((body) => gunzipSync(body).toString().trimEnd().split('\n'));
}

/** Options of the deployed function, with a clock that advances ten seconds each time it is read. */
function slowOptions(): DurableRunOptions {
  const { sliceMs: _, ...options } = optionsOf();
  let nowMs = 0;
  return { ...options, now: () => (nowMs += 10_000) };
}

test.each([
  [900_000, 2],
  [300_000, 4],
  [100_000, 11],
])(
  'a slice takes a fifth of an invocation of %i ms, so pages of ten seconds need %i slices',
  async (limitMs, slices) => {
    const { stored } = await runDurable(
      (steps) => takeDurableSnapshot({ request: calculations, followers: [] }, steps, slowOptions()),
      {
        limitMs,
      },
    );

    // The beginning of the run and its publication are steps too.
    expect(stepsOf(stored)).toHaveLength(slices + 2);
  },
);

type Before = (operation: string, signal: AbortSignal | undefined) => Promise<void> | void;

function callAfter(before: Before, call = callOf(sandbox)): Call {
  const after =
    <Args extends readonly unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const [{ name }] = args as unknown as Parameters<Call>;
      await before(name, (args.at(-1) as CallOptions | undefined)?.signal);
      return method(...args);
    };
  return Object.assign(after(call) as Call, {
    raw: after(call.raw) as Call['raw'],
    read: after(call.read) as Call['read'],
  });
}

const refusal = (operation: string, status: number) =>
  new PlatformError({ kind: 'status', status }, { operation, about: 'a test', attempts: 1 });

/** A call that fails as on a busy platform whenever `fails` returns true. */
const flakyCall = (fails: () => boolean): Call =>
  callAfter((operation) => {
    if (fails()) throw refusal(operation, 503);
  });

test('a run of one slice is three steps', async () => {
  const { stored } = await take({ sliceMs: 60_000 });

  expect(stepsOf(stored)).toHaveLength(3);
  expect((await published()).manifest).toMatchObject({ records: CALCULATIONS, consistency: 'proved' });
});

test('each record is published once, whatever goes wrong in the steps', async () => {
  const mishap = fc.constantFrom<Mishap | undefined>(
    undefined,
    undefined,
    'fails-before',
    'fails-after',
    'killed-after',
    'outlived',
  );

  await fc.assert(
    fc.asyncProperty(
      fc.array(mishap, { maxLength: 12 }),
      fc.array(fc.boolean(), { maxLength: 8 }),
      async (mishaps, busy) => {
        store = openStore();
        let calls = 0;
        const call = flakyCall(() => busy[calls++] ?? false);

        const { result } = await take(
          { call, pageRows: CALCULATIONS / 10 },
          { mishap: (attempt) => mishaps[attempt - 1] },
        );

        expect(result).toMatchObject({ status: 'fulfilled', value: { kind: 'published' } });
        expect((await published()).lines).toEqual([...sandbox.calculations()]);
        expect(moved).toBe(1);
      },
    ),
    { numRuns: scaled(6, 25) },
  );
});

test('an abandoned step cannot move the checkpoint back, however late it resumes', async () => {
  const options = optionsOf();
  let asleep: Saved | undefined;
  let late: PromiseSettledResult<Saved> | undefined;

  const { result } = await runDurable((steps) => {
    const step: DurableSteps['step'] = (name, act) =>
      steps.step(name, async () => {
        if (name === 'slice-2-calculations')
          asleep = await readCheckpoint(store, 'calculations', await onlyRun());
        if (name === 'publish-calculations' && asleep !== undefined) {
          const scan = await scanOfRun(asleep.checkpoint, options);
          [late] = await Promise.allSettled([takeSlice(asleep, { ...options, scan, isOver: () => true })]);
        }
        return act();
      });
    return takeDurableSnapshot({ request: calculations, followers: [] }, { ...steps, step }, options);
  });

  expect(late?.status).toBe('rejected');
  expect(result).toMatchObject({ value: { kind: 'published', records: CALCULATIONS } });
});

async function onlyRun(): Promise<string> {
  const [, , run = ''] = (await store.list('work/calculations/').next()).value?.key.split('/') ?? [];
  return run;
}

test('the result of a step stays small, however many parts there are', async () => {
  const { stored } = await take({ pageRows: CALCULATIONS / 50, partBytes: 1 });

  const sizes = stored.map((each) => (each.kind === 'step' ? each.result.length : 0));
  const keys = (await Array.fromAsync(store.list('work/'))).map(({ key }) => key);
  expect(keys.filter((key) => key.endsWith('.ndjson.gz')).length).toBeGreaterThanOrEqual(50);
  expect(Math.max(...sizes)).toBeLessThan(250);
});

test('an invocation with too little time left ends in a short wait, and a new one continues', async () => {
  // Each step takes 200 of the 900 s. After the fourth, less than a slice and its margin is left.
  const { result, stored, invocations } = await take(
    { pageRows: CALCULATIONS / 10, marginMs: 180_000, sliceMs: 0 },
    { remainingMs: (calls) => 900_000 - Math.ceil(calls / 2) * 200_000 },
  );

  const waits = stored.filter(({ kind }) => kind === 'wait');
  expect(result.status).toBe('fulfilled');
  expect(waits.length).toBeGreaterThan(0);
  expect(waits).toEqual(waits.map(() => ({ kind: 'wait', ms: 1_000 })));
  expect(invocations).toBe(waits.length + 1);
  expect((await published()).lines).toEqual([...sandbox.calculations()]);
});

test('a hanging slice is aborted before its invocation ends, and its pages are saved', async () => {
  let calls = 0;
  let isShort = false;
  const hanging = callAfter((_operation, signal) => {
    calls += 1;
    if (calls < 8 || !isShort) return undefined;
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  });

  const { result, stored } = await take(
    { call: hanging, sliceMs: 60_000 },
    {
      remainingMs: (asked) => {
        isShort = asked === 2;
        return isShort ? 15_800 : 900_000;
      },
    },
  );

  expect(result.status).toBe('fulfilled');
  expect(stepsOf(stored)).toHaveLength(4);
  expect((await published()).lines).toEqual([...sandbox.calculations()]);
});

test.each([
  ['in slices', 0],
  ['in one slice', 60_000],
])(
  'files without a proved order are read twice, %s, and refused if no two reads are equal',
  async (_, sliceMs) => {
    const paths = Array.from({ length: 40 }, (_file, index) => 10 * ((7 * index) % 40));
    const mishaps: readonly (Mishap | undefined)[] = ['killed-after', undefined, 'fails-after'];
    const takeFiles = async (changes: readonly (readonly FileChange[])[]) => {
      const { call } = simulateFiles({ paths, changes, caps: [6], hasTotals: false });
      const run = (steps: DurableSteps) =>
        takeDurableSnapshot({ request: files, followers: [] }, steps, optionsOf({ call, sliceMs }));
      return (await runDurable(run, { mishap: (attempt) => mishaps[attempt % mishaps.length] })).result;
    };
    const moving = Array.from({ length: 400 }, (_request, at): FileChange[] => [
      { kind: 'rename', at: 7 * at, path: 399 * (at % 2) },
    ]);

    expect(await takeFiles(moving)).toMatchObject({ value: { kind: 'refused', refused: ['unproved'] } });
    expect(await takeFiles([])).toMatchObject({ value: { kind: 'published', records: 40 } });
    const { manifest, lines } = await published('files');
    expect(manifest).toMatchObject({ consistency: 'proved', assumes: ['not-missed-twice'], passes: 2 });
    expect(new Set(lines).size).toBe(40);
  },
);

describe('a permanent failure', () => {
  test('of the token is retried twenty times, then ends the run, and the error says so', async () => {
    let tries = 0;
    const call = callOf(sandbox, 'an-old-token');

    const { result } = await take(
      { call },
      {
        mishap: () => {
          tries += 1;
          return undefined;
        },
      },
    );

    const reason = result.status === 'rejected' ? result.reason : undefined;
    expect(reason).toBeInstanceOf(SnapshotStoppedError);
    expect(reason.message).toMatch(/^run \S+ of calculations was stopped: .*401/);
    // One for the beginning, 21 for the first slice and one for the report.
    expect(tries).toBe(23);
    expect(await readLatest(store, 'calculations')).toBeUndefined();
  });

  test('ends the run immediately if the platform changes between two slices, and nothing is mixed', async () => {
    let steps = 0;
    const options = optionsOf();
    const moving = new Proxy(options, {
      get: (target, name, receiver) =>
        name === 'host' && steps > 2 ? 'other.example.com' : Reflect.get(target, name, receiver),
    });

    const { result } = await runDurable(
      (durable) => takeDurableSnapshot({ request: calculations, followers: [] }, durable, moving),
      {
        mishap: () => {
          steps += 1;
          return undefined;
        },
      },
    );

    const reason = result.status === 'rejected' ? result.reason : undefined;
    expect(reason).toBeInstanceOf(SnapshotStoppedError);
    expect(reason.message).toMatch(
      /began on acme.example.com and can be resumed only there, not on other.example.com/,
    );
    // The last step reports it.
    expect(steps).toBe(4);
    expect(await readLatest(store, 'calculations')).toBeUndefined();
  });

  test('prevents the cards from being started if no calculations are published', async () => {
    const { result } = await runDurable((steps) =>
      takeDurableSnapshot({ request: cards, followers: [] }, steps, optionsOf()),
    );

    expect(result).toMatchObject({
      status: 'rejected',
      reason: { message: expect.stringMatching(/^cards was not started: .*there is no published snapshot/) },
    });
  });
});

describe('the snapshots that follow (followers)', () => {
  const followed = (differences: Partial<DurableRunOptions> = {}, durable: FakeDurableOptions = {}) =>
    runDurable(
      (steps) =>
        takeDurableSnapshot(
          { request: calculations, followers: [cards] },
          steps,
          optionsOf({ sliceMs: 60_000, pageRows: 1_000, ...differences }),
        ),
      durable,
    );

  test('are cards, taken from the datasets of the calculations published just before', async () => {
    const { result } = await followed(
      {},
      { mishap: (attempt) => (attempt % 2 ? 'killed-after' : undefined) },
    );

    const [{ manifest }, { manifest: ofCards }] = [await published(), await published('cards')];
    expect(result).toMatchObject({
      value: { kind: 'published', run: manifest.run, followers: [{ kind: 'published', place: 'cards' }] },
    });
    expect(ofCards.idsFrom).toBe(`calculations, run ${manifest.run}`);
    expect(ofCards.records).toBeGreaterThan(0);
    expect(moved).toBe(2);
  });

  test('are not taken after refused calculations, and every run that ended is reported', async () => {
    const reported: RunEnd[] = [];
    const onEnded = (ended: RunEnd) => void reported.push(ended);
    await followed({ onEnded });
    const before = await published('cards');
    const empty = await startPlatform({ calculations: 0, datasets: 6, cards: 40, fileSets: 0, dataFiles: 0 });

    const { result } = await followed({ call: callOf(empty), onEnded });
    await empty.close();

    expect(reported.map(({ place, kind }) => [place, kind])).toEqual([
      ['calculations', 'published'],
      ['cards', 'published'],
      ['calculations', 'refused'],
    ]);

    expect(result).toMatchObject({ value: { kind: 'refused', refused: expect.arrayContaining(['empty']) } });
    expect((await published('cards')).manifest.run).toBe(before.manifest.run);
  });

  test('that fail are reported once, however often the execution is suspended afterwards', async () => {
    const reported: RunEnd[] = [];
    const noFirst = callAfter((operation) => {
      if (operation === 'getDataFile') throw refusal(operation, 400);
    });
    const files: SnapshotRequest = { source: 'data-files', ids: ['1'] };

    const { invocations } = await runDurable(
      (steps) =>
        takeDurableSnapshot(
          { request: calculations, followers: [files, cards] },
          steps,
          optionsOf({
            call: noFirst,
            pageRows: CALCULATIONS / 2,
            onEnded: (ended) => void reported.push(ended),
          }),
        ),
      // Too short for a second step, so each step has an invocation of its own.
      { remainingMs: () => 100_000 },
    );

    expect(invocations).toBeGreaterThan(5);
    expect(reported).toMatchObject([
      { kind: 'published', place: 'calculations', records: CALCULATIONS, missing: 0, changes: null },
      {
        kind: 'failed',
        place: 'data-files',
        err: { name: 'SnapshotStoppedError', message: expect.stringContaining('400') },
      },
      { kind: 'published', place: 'cards' },
    ]);
  });

  test('that fail have an error that says that the calculations were published', async () => {
    const noCards = callAfter((operation) => {
      if (operation === 'listCards') throw refusal(operation, 400);
    });

    const { result } = await followed({ call: noCards });

    expect(result).toMatchObject({
      status: 'rejected',
      reason: {
        message: expect.stringMatching(
          /^run \S+ of calculations was published, but run \S+ of cards was stopped: /,
        ),
      },
    });
  });
});
