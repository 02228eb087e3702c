import { describe, expect, test } from 'vitest';
import { resultKey, writeResult } from '../../lib/jobs/result.ts';
import type { Store } from '../../lib/store/store.ts';
import { beforeFirst } from '../store/before.ts';
import { fakeWorker } from './fake-worker.ts';

const at = (text: string) => Date.parse(`2026-11-21T${text}Z`);

const unknown: Parameters<typeof writeResult>[1] = {
  id: 'job-1',
  type: 'run-function',
  state: 'UNKNOWN',
  fence: 2,
  attempts: 1,
  takeovers: 0,
  dt: '2026-11-21',
  createdAt: at('09:00:00'),
  startedAt: at('09:00:00'),
  finishedAt: at('09:10:00'),
  sender: 'AIDAEXAMPLE',
  outcome: { status: 'unknown', error: { kind: 'answer-lost', message: 'the outcome is unknown' } },
};
const done: Parameters<typeof writeResult>[1] = {
  ...unknown,
  state: 'DONE',
  finishedAt: at('09:10:01'),
  outcome: { status: 'done', response: '{"ok":true}' },
};

test('a late response replaces a result of unknown', async () => {
  const fake = fakeWorker({});

  await writeResult(fake.store, unknown);
  await writeResult(fake.store, done);

  expect(await fake.stored(resultKey(done))).toMatchObject({ status: 'done', response: { ok: true } });
});

test('the first result of a job costs one request', async () => {
  const fake = fakeWorker({});
  const sent: string[] = [];
  const watched: Store = {
    ...fake.store,
    async get(key) {
      sent.push('get');
      return fake.store.get(key);
    },
    async put(key, body, options) {
      sent.push('put');
      return fake.store.put(key, body, options);
    },
  };

  await writeResult(watched, done);

  expect(sent).toEqual(['put']);
});

describe('writing `unknown` slowly does not overwrite a result of done', () => {
  test('that is stored just before it', async () => {
    const fake = fakeWorker({});
    const slow: Store = {
      ...fake.store,
      async put(key, body, options) {
        await writeResult(fake.store, done);
        return fake.store.put(key, body, options);
      },
    };

    await writeResult(slow, unknown);

    expect(await fake.stored(resultKey(done))).toMatchObject({ status: 'done' });
  });

  test('that is stored between its read of an earlier result and its write', async () => {
    const fake = fakeWorker({});
    const slow: Store = {
      ...fake.store,
      async get(key) {
        const there = await fake.store.get(key);
        await writeResult(fake.store, done);
        return there;
      },
    };
    await writeResult(fake.store, { ...unknown, finishedAt: at('09:05:00') });

    await writeResult(slow, unknown);

    expect(await fake.stored(resultKey(done))).toMatchObject({ status: 'done' });
  });
});

test('a result that is deleted while another one is about to replace it is written again', async () => {
  const fake = fakeWorker({});
  const key = await writeResult(fake.store, unknown);
  const slow = beforeFirst(
    fake.store,
    'get',
    (each) => each === key,
    () => fake.store.delete(key),
  );

  await writeResult(slow, done);

  expect(await fake.stored(key)).toMatchObject({ status: 'done' });
});

test('the result of a failure has its error, and the whole execution if there is one', async () => {
  const fake = fakeWorker({});
  const failed: Parameters<typeof writeResult>[1] = {
    ...done,
    state: 'FAILED',
    outcome: {
      status: 'failed',
      error: { kind: 'execution', message: 'execution e-1 ended with FAILED' },
      response: '{"status":"FAILED"}',
    },
  };

  await writeResult(fake.store, failed);

  expect(await fake.stored(resultKey(failed))).toEqual({
    version: 1,
    id: 'job-1',
    type: 'run-function',
    status: 'failed',
    attempts: 1,
    startedAt: '2026-11-21T09:00:00.000Z',
    finishedAt: '2026-11-21T09:10:01.000Z',
    sender: 'AIDAEXAMPLE',
    error: { kind: 'execution', message: 'execution e-1 ended with FAILED' },
    response: { status: 'FAILED' },
  });
});

test('a result is one line, however the response was formatted, with unchanged values', async () => {
  const fake = fakeWorker({});
  const response = '{\n  "big": 999999999999999999999999999999,\r\n  "text": "a\\nb"\r}\n';

  await writeResult(fake.store, { ...done, outcome: { status: 'done', response } });

  const text = String((await fake.store.get(resultKey(done)))?.body);
  expect(text).toMatch(/^[^\r\n]+\n$/);
  expect(text).toContain('"big": 999999999999999999999999999999, ');
  expect(JSON.parse(text).response.text).toBe('a\nb');
});
