import { afterEach, beforeEach, expect, test } from 'vitest';
import { snapshotRunner } from '../../../../lib/jobs/types/snapshot/runner-here.ts';
import { createProcessPace } from '../../../../lib/pace/fleet-pace.ts';
import { createPlatform } from '../../../../lib/platform/open-calls.ts';
import { PlatformError } from '../../../../lib/platform/platform-error.ts';
import { fixedToken } from '../../../../lib/platform/token.ts';
import { type Sandbox, startPlatform } from '../../../../lib/sandbox/platform/start-platform.ts';
import { createDirectoryStore } from '../../../../lib/store/directory.ts';
import type { Store } from '../../../../lib/store/store.ts';
import { folderOfEach } from '../../../folder-of-each.ts';

const folder = folderOfEach();
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 40, datasets: 2, cards: 6, fileSets: 0, dataFiles: 0 });
});

afterEach(() => sandbox.close());

const job = { version: 1, type: 'snapshot', id: 'nightly', source: 'calculations' } as const;

function runnerOver(store: Store, isUnavailable: () => boolean = () => false) {
  const pace = createProcessPace({ rate: 1_000, concurrency: 4 });
  const platform = createPlatform({ baseUrl: sandbox.url, token: fixedToken(sandbox.token), pace });
  const unavailable = new PlatformError(
    { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' },
    { operation: 'searchCalculations', about: 'calculations', attempts: 1 },
  );
  const read: typeof platform.call.read = (...asked) =>
    isUnavailable() ? Promise.reject(unavailable) : platform.call.read(...asked);
  const raw: typeof platform.call.raw = (...asked) =>
    isUnavailable() ? Promise.reject(unavailable) : platform.call.raw(...asked);
  const run = snapshotRunner({
    call: Object.assign(platform.call.bind(undefined), { raw, read }),
    store,
    compression: 'gzip',
    host: new URL(sandbox.url).host,
    callCounts: () => ({ requests: 0, retries: 0, throttled: 0, waitedMs: 0 }),
    now: Date.now,
    random: Math.random,
    sleep: async () => undefined,
  });
  const { signal } = new AbortController();
  const turn = { signal, beforeSend: async () => undefined, onSend: () => undefined, deadlineMs: undefined };
  return () => run(job, { ...turn, lastSendMs: undefined });
}

async function runsOf(store: Store): Promise<readonly string[]> {
  const runs = new Set<string>();
  for await (const { key } of store.list('work/calculations/')) runs.add(key.split('/')[2] ?? '');
  return [...runs];
}

test('an attempt after one that the platform stopped resumes its run', async () => {
  const store = createDirectoryStore(folder.path);
  let isUnavailable = true;
  const attempt = runnerOver(store, () => isUnavailable);

  await expect(attempt()).rejects.toMatchObject({ failure: { kind: 'connection' } });
  await expect(attempt()).rejects.toMatchObject({ failure: { kind: 'connection' } });
  const [begun, ...others] = await runsOf(store);
  isUnavailable = false;
  const outcome = await attempt();

  expect(others).toEqual([]);
  expect(outcome.status).toBe('done');
  expect(JSON.parse(String(outcome.response))).toMatchObject({ run: begun, records: 40 });
});

test('an attempt after one that ended, of a reopened job, begins a new run', async () => {
  const store = createDirectoryStore(folder.path);
  const attempt = runnerOver(store);

  const [first, second] = [await attempt(), await attempt()];

  const [{ run: one }, { run: other }] = [first, second].map(({ response }) => JSON.parse(String(response)));
  expect(first.status).toBe('done');
  expect(other).not.toBe(one);
});
