import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { checkJobFile } from '../../lib/jobs/file/job-file.ts';
import { splitInbox } from '../../lib/jobs/split-inbox.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import { dataFiles } from '../../lib/jobs/types/data-files/definition.ts';
import type { Runners } from '../../lib/jobs/types/job-types.ts';
import { fakeWorker, runFunctionJob } from '../jobs/fake-worker.ts';
import { runnerOf } from '../jobs/runner-of.ts';
import { fakeCall, ok } from '../platform/fake-call.ts';
import { scaled } from '../scale.ts';

/* Tests hostile messages, requests and job runners. */

class Unreadable extends Error {
  override get message(): string {
    throw new Error('no message');
  }
}

const WITHOUT_TEXT: unknown = Object.assign(new Error('x'), { message: { toString: 5 } });
const SECRETIVE: unknown = Object.defineProperty(new Error('x'), 'detail', {
  enumerable: true,
  get() {
    throw new Error('no detail');
  },
});

test.each<readonly [string, () => unknown]>([
  ['a URIError', () => new URIError('URI malformed')],
  ['a RangeError', () => new RangeError('Maximum call stack size exceeded')],
  ['a TypeError', () => new TypeError('x is not a function')],
  ['a text', () => 'broken'],
  ['undefined', () => undefined],
  ['null', () => null],
  ['a symbol', () => Symbol('broken')],
  ['an object without a prototype', () => Object.create(null)],
  ['an error whose message cannot be read', () => new Unreadable()],
  ['an error whose message is no text', () => WITHOUT_TEXT],
  ['an error with a property that cannot be read', () => SECRETIVE],
  ['an error with a message of a million characters', () => new Error('x'.repeat(1_000_000))],
])('a job ends whatever its runner throws, even if it was received alone: %s', async (_, thrown) => {
  for (const sends of [true, false]) {
    const run: Runners['run-function'] = async (_job, turn) => {
      await turn.beforeSend();
      if (sends) turn.onSend();
      throw thrown();
    };
    const fake = fakeWorker({ 'run-function': run });
    const lines: string[] = [];
    const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
    const worker = { ...fake.worker, logger };
    let deliveries = 0;

    for (let handled = ''; handled !== 'done' && deliveries < 50; deliveries += 1) {
      handled = (await fake.handle(runFunctionJob, { worker })).kind;
      fake.clock.nowMs += 2 * 3_600_000;
    }

    const result = await fake.stored('results/run-function/dt=2026-11-21/job-1.json');
    expect(deliveries).toBe(sends ? 1 : 48);
    expect(result).toMatchObject({ status: sends ? 'unknown' : 'failed', error: { kind: 'internal' } });
    expect(JSON.stringify(result).length).toBeLessThan(5_000);
    expect(lines.filter((line) => line.includes('job not done'))).toHaveLength(deliveries);
  }
});

const manyZeros = Array.from({ length: 130_000 }, () => 0);

test.each([
  ['a function with a slash', { ...runFunctionJob, functionName: 'x/y' }],
  ['an id of `..`', { type: 'data-files', ids: ['..'] }],
  ['130,000 texts that are none', { type: 'score', texts: manyZeros }],
  ['130,000 topics that are none', { type: 'score', texts: [{ id: '1', text: 'fine' }], topics: manyZeros }],
  ['130,000 filters that are none', { type: 'snapshot', source: 'calculations', filters: manyZeros }],
])('a message is refused and acknowledged: %s', async (_, body) => {
  const fake = fakeWorker({});
  const text = JSON.stringify({ version: 1, ...body });

  const handled = await fake.handle(text);

  expect(handled).toEqual({ kind: 'done' });
  expect(await fake.stored('refused/m-1.json')).toMatchObject({
    faults: expect.toSatisfy((faults: string[]) => faults.every((fault) => /^.{10,400}$/.test(fault))),
    body: text,
  });
  expect(fake.finished).toEqual([]);
});

test('if many lines are faulty, 50 faults are listed, and the rest are counted', async () => {
  const count = scaled(10_000, 100_000);
  const lines = Array.from(
    { length: count },
    (_, line) => `{"version":2,"type":"data-files","ids":[${line}]}`,
  );

  const found = await checkJobFile({ file: 'jobs.ndjson', text: lines.join('\n'), allow: {} });

  const faults = 'faults' in found ? found.faults : [];
  expect(faults).toHaveLength(51);
  expect(faults.at(-1)).toBe(`and ${count - 50} more`);
});

test.each([
  ['"text"', 'expected an object, got "text"'],
  ['null', 'expected an object, got null'],
  ['[{"dataFileId":5}]', 'expected an object, got a list of 1'],
  ['{"dataFileId":6,"name":"b"}', 'dataFileId: expected 5, got 6'],
])('the metadata of a data file must not be %s', async (body, fault) => {
  const { call } = fakeCall([ok({ dataFileId: 4, name: 'a' }), ok(JSON.parse(body))]);
  const turn = { signal: new AbortController().signal, beforeSend: async () => undefined };

  const outcome = await runnerOf(dataFiles, { call })(
    { version: 1, type: 'data-files', id: 'j', ids: ['4', '5'] },
    { ...turn, onSend: () => undefined },
  );

  expect(outcome).toEqual({
    status: 'failed',
    error: { kind: 'shape', message: `the response does not match the contract: data file 5: ${fault}` },
    response: '{"files":[{"dataFileId":4,"name":"a"}],"missing":[]}',
  });
});

describe('a request in the inbox', () => {
  test.each([
    'inbox/../../secrets.json',
    'inbox/...json',
    'inbox/a/../b.json',
    'inbox//b.json',
    'inbox/./b.json',
    'inbox/b.json/',
    'inbox/\u0000.json',
    'inbox/\ud800.json',
    `inbox/${'x'.repeat(1_100)}.json`,
    '.store/locks',
  ])('is refused under the key %j, and not tried again', async (key) => {
    const fake = fakeWorker({});
    const { ledger, store, batches } = fake;
    const { table } = batches;
    const owner = { owner: 'w', now: Date.now, newToken: randomUUID, attemptMs: 60_000 };
    const cache = createScoreCache({ table, host: 'h', ...owner });
    const storage = { store, table, ledger, cache, batches, host: 'h', checkTable: async () => undefined };
    const queue = { send: () => Promise.reject(new Error('nothing may be sent')) };

    const split = await splitInbox(key, { storage, queue, rate: 1, logger: pino({ level: 'silent' }) });

    if (split.kind !== 'refused') throw new Error(split.kind);
    expect(split.refused).toMatch(/^refused\/inbox-[\w.:!-]{0,200}\.json$/);
    expect(await fake.stored(split.refused)).toMatchObject({
      faults: [expect.stringMatching(/expected|was deleted before it was read/)],
    });
  });

  test('is refused if it is nested more deeply than a message may be', async () => {
    const { parseInboxRequest } = await import('../../lib/jobs/split-inbox.ts');
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const body = `{"object":"a","text":"t","modelConfiguration":${deep}}`;

    expect(parseInboxRequest('inbox/b.json', Buffer.from(body))).toMatchObject({
      faults: ['the request: expected at most 100 levels of nested lists and objects, got more'],
    });
  });
});
