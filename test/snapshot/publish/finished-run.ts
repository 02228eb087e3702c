import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type Place, partName, type Run, workFolder } from '../../../lib/snapshot/keys.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import { publishRun, type readFinishedRun } from '../../../lib/snapshot/publish/publish.ts';
import type { Store } from '../../../lib/store/store.ts';
import { type FinishedRun, finishedManifest } from '../published-manifest.ts';

export { monday, tuesday, wednesday } from '../changes/publish-lines.ts';

/** Stores a run with one part in its work folder. Default: one record. */
export async function finishedRun(
  store: Store,
  run: Run,
  differences: Partial<FinishedRun> = {},
  lines: readonly string[] = [`{"id":1,"name":"of ${run.id}"}`],
): ReturnType<typeof readFinishedRun> {
  const { records = 10 } = differences;
  const part = await storeWorkPart(store, run, 0, lines, records);
  return finishedManifest(run, { records, totals: { start: 10, end: 10 }, parts: [part], ...differences });
}

type Given = Partial<Parameters<typeof publishRun>[0]> & {
  readonly differences?: Partial<FinishedRun>;
};

/** Publishes such a run, by default on a Saturday after all of them. */
export const publishFinished = async (store: Store, run: Run, { differences, ...given }: Given = {}) =>
  publishRun({
    store,
    source: 'calculations',
    run,
    finished: await finishedRun(store, run, differences),
    force: false,
    now: () => Date.parse('2026-11-21T09:00:00Z'),
    ...given,
  });

/** Stores a part in its work folder, as one frame. Returns its entry, in which `records` may be wrong. */
export async function storeWorkPart(
  store: Store,
  run: Run,
  index: number,
  lines: readonly string[],
  records = lines.length,
  place: Place = 'calculations',
): Promise<Part> {
  const body = gzipSync(lines.map((line) => `${line}\n`).join(''));
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = `${workFolder(place, run)}${partName(index, sha256, 'gzip')}`;
  const keys = { firstKey: `${index + 1}`, lastKey: `${index + lines.length}` };
  const counts = { records, bytes: body.byteLength, ...keys };
  await store.put(key, body);
  return { key, sha256, ...counts };
}
