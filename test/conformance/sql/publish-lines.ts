import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { storeFrames } from '../../../lib/snapshot/frames/frame.ts';
import { type Place, partName, workFolder } from '../../../lib/snapshot/keys.ts';
import { publishRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';
import { makeTables } from '../../../lib/tables/make/make-tables.ts';
import type { Partitions } from '../../../lib/tables/partitions/partitions.ts';

export type LinesToPublish = {
  readonly store: Store;
  readonly place: Place;
  readonly run: Run;
  readonly partitions: Partitions;
  /** Records, each a line without its end, in several parts. */
  readonly parts: readonly (readonly string[])[];
};

/** Publishes records as a run that has just been taken, and makes its tables. */
export async function publishLines({ store, place, run, partitions, parts }: LinesToPublish): Promise<void> {
  const stored = await Promise.all(
    parts.map(async (lines, index) => {
      const body = gzipSync(lines.map((line) => `${line}\n`).join(''));
      const sha256 = createHash('sha256').update(body).digest('hex');
      const key = `${workFolder(place, run)}${partName(index, sha256, 'gzip')}`;
      const counts = { records: lines.length, bytes: body.byteLength, firstKey: '1', lastKey: '1' };
      await store.put(key, body);
      await storeFrames(store, key, [{ ...counts, end: 'part' }]);
      return { key, sha256, ...counts };
    }),
  );
  const records = parts.flat().length;
  const publication = await publishRun({
    store,
    source: place,
    run,
    force: true,
    finished: {
      version: 1,
      source: place,
      run: run.id,
      selection: {},
      startedAt: run.startedAt,
      finishedAt: run.startedAt,
      platform: 'acme.example.com',
      records,
      totals: { start: records, end: records },
      assumes: [],
      atRisk: { seconds: 0, requests: 0 },
      begunAfter: null,
      consistency: 'proved',
      passes: 1,
      order: 'id',
      missing: [],
      parts: stored,
      fields: { id: ['number'] },
      calls: { requests: 1, retries: 0, throttled: 0, waitedMs: 0 },
      scanRefused: [],
    },
  });
  if (publication.kind !== 'published') throw new Error(`expected a published run, got ${publication.kind}`);
  const making = makeTables({
    store,
    groups: [place],
    partitions,
    now: Date.now,
    isOver: () => false,
    isDry: false,
    warn: (what, reason) => {
      throw new Error(what, { cause: reason });
    },
  });
  for await (const { kind } of making) if (kind !== 'made') throw new Error(`expected tables, got ${kind}`);
}
