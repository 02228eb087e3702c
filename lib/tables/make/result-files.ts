import { createHash } from 'node:crypto';
import { bytesOfResult } from '../../jobs/results/stored-results.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import { compareKeys } from '../../store/key.ts';
import type { ListedObject, Store } from '../../store/store.ts';
import type { RecordedMade } from '../made/made-files.ts';
import type { LinesToMake, PlacedLine } from './parquet-of-lines.ts';

export type ResultFilesOptions = {
  readonly store: Pick<Store, 'get'>;
  /** A day's results, in the order of their keys. */
  readonly objects: AsyncIterable<ListedObject> | Iterable<ListedObject>;
  /** Names what a file depends on besides the results. */
  readonly format: string;
  readonly signal?: AbortSignal | undefined;
  /** A file gets so many results, or so many bytes of them, and one more at most. Default: 20,000, and 64 MB. */
  readonly most?: { readonly results: number; readonly bytes: number } | undefined;
};

/** So many are read in seconds, and fit into memory as Parquet. */
const MOST = { results: 20_000, bytes: 64_000_000 } as const;

/**
 * The files of a day: each has the results between two keys. Where they are cut is decided once, when they are made for
 * the first time, so that a result never moves from one file to another: whoever reads meanwhile finds it once. What
 * comes later goes in between, or at the end.
 */
export async function* resultFiles(
  { store, objects: all, format, signal, most = MOST }: ResultFilesOptions,
  { files, isWhole }: RecordedMade,
): AsyncGenerator<LinesToMake> {
  // The last file of all has no end.
  const ends = (isWhole ? files.slice(0, -1) : files).map(({ upTo = '' }) => upTo);
  const isEndless = (file: number) => isWhole && file === files.length - 1;
  let [index, bytes] = [0, 0];
  let objects: ListedObject[] = [];
  const cut = (): LinesToMake => {
    const file = fileOf(objects, ends[index], { store, format, signal });
    index += 1;
    bytes = 0;
    objects = [];
    return file;
  };
  for await (const object of all) {
    for (let end = ends[index]; end !== undefined && compareKeys(object.key, end) > 0; end = ends[index])
      yield cut();
    objects.push(object);
    bytes += object.sizeBytes;
    const isFull = objects.length >= most.results || bytes >= most.bytes;
    if (isFull && ends[index] === undefined && !isEndless(index)) yield cut();
  }
  while (objects.length > 0 || index < ends.length || isEndless(index)) yield cut();
}

type Reading = Pick<ResultFilesOptions, 'store' | 'format' | 'signal'>;

function fileOf(objects: readonly ListedObject[], end: string | undefined, reading: Reading): LinesToMake {
  const hash = createHash('sha256').update(`${reading.format}\n`);
  for (const { key, mark } of objects) hash.update(`${key} ${mark}\n`);
  const upTo = end ?? objects.at(-1)?.key;
  return {
    of: hash.digest('hex'),
    ...(upTo === undefined ? {} : { upTo }),
    lines: () => readResults(objects, reading),
    bytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  };
}

/** A read takes tens of milliseconds, and most results are small. */
const CONCURRENCY = 32;

/** How much is read at the same time. A larger one is read alone. */
const GROUP_BYTES = 64_000_000;

async function* readResults(
  objects: readonly ListedObject[],
  { store, signal }: Reading,
): AsyncGenerator<PlacedLine> {
  for (const items of groupsOf(objects)) {
    const bodies = readAhead({
      items,
      concurrency: CONCURRENCY,
      signal,
      read: async ({ key }, aborted) => ({ key, body: await bytesOfResult(store, key, aborted) }),
    });
    // One that was deleted meanwhile is not in the next listing either.
    for await (const { key, body } of bodies) if (body !== undefined) yield { json: body, place: key };
  }
}

function* groupsOf(objects: readonly ListedObject[]): Generator<readonly ListedObject[]> {
  let group: ListedObject[] = [];
  let bytes = 0;
  for (const object of objects) {
    if (group.length > 0 && bytes + object.sizeBytes > GROUP_BYTES) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push(object);
    bytes += object.sizeBytes;
  }
  if (group.length > 0) yield group;
}
