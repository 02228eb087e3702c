import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { storeFrames } from '../../../lib/snapshot/frames/frame.ts';
import { partName } from '../../../lib/snapshot/keys.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import type { FinishedRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';
import { addedUp } from '../published-manifest.ts';

export const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
export const tuesday: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };
export const wednesday: Run = { id: '20261118T090000Z-cccccc', startedAt: '2026-11-18T09:00:00.000Z' };

/** A run with one part in its work folder, of one record unless these lines are given. */
export async function finishedRun(
  store: Store,
  run: Run,
  differences: Partial<FinishedRun> = {},
  lines: readonly string[] = [`{"id":1,"name":"of ${run.id}"}`],
): Promise<FinishedRun> {
  const { records = 10 } = differences;
  const part = await storeWorkPart(store, run, 0, lines, records);
  return addedUp<FinishedRun>({
    version: 1,
    source: 'calculations',
    run: run.id,
    selection: {},
    startedAt: run.startedAt,
    finishedAt: run.startedAt,
    platform: 'acme.example.com',
    records,
    totals: { start: 10, end: 10 },
    consistency: 'proved',
    assumes: [],
    atRisk: { seconds: 0, requests: 0 },
    begunAfter: null,
    passes: 1,
    order: 'id',
    missing: [],
    parts: [part],
    fields: { id: ['number'] },
    calls: { requests: 2, retries: 0, throttled: 0, waitedMs: 0 },
    scanRefused: [],
    ...differences,
  });
}

/** Stores a part of a run in its work folder, of one frame with these lines, and returns its entry, which may say another count. */
export async function storeWorkPart(
  store: Store,
  run: Run,
  index: number,
  lines: readonly string[],
  records = lines.length,
): Promise<Part> {
  const body = gzipSync(lines.map((line) => `${line}\n`).join(''));
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = `work/calculations/${run.id}/${partName(index, sha256, 'gzip')}`;
  const keys = { firstKey: `${index + 1}`, lastKey: `${index + lines.length}` };
  const counts = { records, bytes: body.byteLength, ...keys };
  await store.put(key, body);
  await storeFrames(store, key, [{ ...counts, end: 'part' }]);
  return { key, sha256, ...counts };
}
