import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
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
  const key = `work/calculations/${run.id}/part-00000-0123456789ab.ndjson.gz`;
  const body = gzipSync(lines.map((line) => `${line}\n`).join(''));
  const sha256 = createHash('sha256').update(body).digest('hex');
  await store.put(key, body);
  return addedUp<FinishedRun>({
    version: 1,
    source: 'calculations',
    run: run.id,
    selection: {},
    startedAt: run.startedAt,
    finishedAt: run.startedAt,
    platform: 'acme.example.com',
    records: 10,
    totals: { start: 10, end: 10 },
    consistency: 'proved',
    passes: 1,
    order: 'id',
    missing: [],
    parts: [{ key, records: lines.length, bytes: body.byteLength, sha256, firstKey: '1', lastKey: '1' }],
    fields: { id: ['number'] },
    calls: { requests: 2, retries: 0, throttled: 0, waitedMs: 0 },
    scanRefused: [],
    ...differences,
  });
}
