import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sleep } from '../../../lib/base/async.ts';
import { createProcessPace } from '../../../lib/pace/fleet-pace.ts';
import { countCalls } from '../../../lib/platform/events.ts';
import { type Sandbox, startPlatform } from '../../../lib/sandbox/platform/start-platform.ts';
import { type SnapshotOptions, takeRun } from '../../../lib/snapshot/run/take-run.ts';
import type { Scan } from '../../../lib/snapshot/scan.ts';
import { calculationScan } from '../../../lib/snapshot/sources/calculations/scan.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { platformOf } from '../sandbox-call.ts';
import { beginIn } from './begin-in.ts';

const store = storeOfEach();

type Differences = Partial<SnapshotOptions> & { readonly rate?: number; readonly pageRows?: number };

/** Takes a snapshot of a sandbox with the real client, whose retries wait only briefly. */
async function snapshotOf(
  sandbox: Sandbox,
  { rate = 10_000, pageRows = 5_000, ...differences }: Differences = {},
) {
  const { observe, counts } = countCalls();
  const { call } = platformOf(sandbox, { pace: createProcessPace({ rate, concurrency: 8 }), observe });
  const options = {
    store,
    platform: new URL(sandbox.url).host,
    callCounts: counts,
    force: false,
    now: Date.now,
    random: Math.random,
    ...differences,
  };
  const scan = calculationScan({
    call,
    selection: {},
    limit: pageRows,
    sleep,
    ...differences,
  }) as Scan<unknown>;
  const run = await beginIn(options.store, { platform: options.platform });
  return takeRun(run, scan, options);
}

/** All lines of the published parts. Checks each part's sha256 against the manifest. */
async function linesOf({ manifest }: Awaited<ReturnType<typeof snapshotOf>>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const part of manifest.parts) {
    const body = (await store.get(part.key))?.body ?? Buffer.alloc(0);
    expect(createHash('sha256').update(body).digest('hex')).toBe(part.sha256);
    lines.push(...gunzipSync(body).toString().trimEnd().split('\n'));
  }
  return lines;
}

/** The keys of the parts that the scan finished. They differ from the published ones, which depend on the records alone. */
async function partsUnderWork(): Promise<readonly string[]> {
  const keys = (await Array.fromAsync(store.list('work/'))).map(({ key }) => key);
  return keys.filter((key) => key.endsWith('.ndjson.gz'));
}

test('a run contains every record exactly as the platform sent it, including ids above 2^53', async () => {
  await using sandbox = await startPlatform({ calculations: 3_000 });

  const publication = await snapshotOf(sandbox, { pageRows: 700, partBytes: 50_000 });

  const { kind, manifest } = publication;
  const lastKey = manifest.parts.at(-1)?.lastKey ?? '';
  expect(kind).toBe('published');
  expect(manifest).toMatchObject({
    records: 3_000,
    consistency: 'proved',
    totals: { start: 3_000, end: 3_000 },
    changes: null,
  });
  expect((await partsUnderWork()).length).toBeGreaterThan(1);
  expect(BigInt(lastKey)).toBeGreaterThan(2n ** 53n);
  expect(await linesOf(publication)).toEqual([...sandbox.calculations()]);
});

test('a run equals the records of a platform that fails one request in five and limits its rate', async () => {
  await using sandbox = await startPlatform({
    calculations: 2_000,
    faults: 0.2,
    rate: 20,
    retryAfter: 'seconds',
  });

  const publication = await snapshotOf(sandbox, { pageRows: 101, rate: 19.6 });

  expect(publication).toMatchObject({ kind: 'published', manifest: { consistency: 'proved' } });
  expect(publication.manifest.calls.retries).toBeGreaterThan(0);
  expect(await linesOf(publication)).toEqual([...sandbox.calculations()]);
});

test('a run contains every record that existed throughout, even if other records are deleted, added and changed meanwhile', async () => {
  await using sandbox = await startPlatform({ calculations: 600, churn: 200, latencyMs: 5 });
  const from = Date.now();

  const publication = await snapshotOf(sandbox, { pageRows: 50 });

  const ids = (await linesOf(publication)).map((line) => /^\{"id":(\d+)/.exec(line)?.[1] ?? line);
  expect(publication).toMatchObject({ kind: 'published', manifest: { consistency: 'proved' } });
  expect(sandbox.counts().churn).not.toEqual({});
  expect(new Set(ids).size).toBe(ids.length);
  expect(new Set(sandbox.livedThrough(from, Date.now())).difference(new Set(ids))).toEqual(new Set());
}, 120_000);

test('a run is dated after the check of what is published, however long that check takes', async () => {
  let nowMs = Date.parse('2026-11-21T09:00:00Z');
  const slow = {
    ...store,
    get: async (key: string) => {
      nowMs += 60_000;
      return store.get(key);
    },
  };

  const { checkpoint } = await beginIn(slow, { now: () => nowMs, random: () => 0.5 });

  expect(checkpoint).toMatchObject({ startedAt: '2026-11-21T09:01:00.000Z', begunAfter: null });
});

test('a run that begins while latest.json cannot be read does not claim that nothing was published', async () => {
  await store.put('calculations/latest.json', Buffer.from('{'));

  const { checkpoint } = await beginIn(store, { now: Date.now, random: () => 0.5 });

  expect(checkpoint.begunAfter).toBe('');
});
