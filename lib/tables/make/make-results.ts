import { createHash } from 'node:crypto';
import { bytesOfResult } from '../../jobs/results/stored-results.ts';
import { readAhead } from '../../snapshot/sources/read-ahead.ts';
import { compareKeys, type ListedObject, type Store } from '../../store/index.ts';
import { type RecordedMade, type WithParquet, withParquet } from '../made/made-files.ts';
import { type LinesToMake, type PlacedLine, parquetOfLines } from '../made/make-parquet.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import { resultFileColumns } from '../stored-tables.ts';
import { type MadeFolder, type MakeOptions, makeFolder } from './make-folder.ts';

export type ResultsToMake = MakeOptions & {
  /** How long results stay, in days: of an older day some may be gone already, so its Parquet is left as it is. Default: 90. */
  readonly resultsDays?: number | undefined;
  /** Days older than a week only on one day of the week. Default: false. */
  readonly isSparse?: boolean | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** See `resultFiles`. */
  readonly most?: ResultFilesOptions['most'];
};

/** The results of one type and day. */
export type DayOfResults = { readonly type: string; readonly day: string };

const RESULTS_PARQUET = 'parquet/results/';

const sourceFolder = ({ type, day }: DayOfResults) => `results/${type}/dt=${day}/`;
const parquetFolder = ({ type, day }: DayOfResults) => `${RESULTS_PARQUET}type=${type}/dt=${day}/`;

/** The days of all types that have ended, and whose results are all still there; the newest first. */
export async function endedDays({
  store,
  resultsDays = 90,
  isSparse = false,
  now,
}: ResultsToMake): Promise<readonly DayOfResults[]> {
  const found = new Map<string, DayOfResults>();
  for (const [root, pattern] of [
    ['results/', /^results\/([^/=]+)\/dt=(\d{4}-\d\d-\d\d)$/],
    [RESULTS_PARQUET, /^parquet\/results\/type=([^/=]+)\/dt=(\d{4}-\d\d-\d\d)$/],
  ] as const)
    for await (const folder of store.folders(root))
      for await (const day of store.folders(`${folder}/`)) {
        const [, type, dt] = pattern.exec(day) ?? [];
        if (type !== undefined && dt !== undefined) found.set(`${dt} ${type}`, { type, day: dt });
      }
  const nowMs = now();
  const first = dayOf(nowMs - (resultsDays - 1) * DAY_MS);
  const today = dayOf(nowMs);
  return [...found.entries()]
    .filter(([, { day }]) => day >= first && day < today && (!isSparse || isDue(day, today)))
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([, day]) => day);
}

/** Jobs may end late, and may be reopened for a month. */
function isDue(day: string, today: string): boolean {
  const age = Math.round((Date.parse(today) - Date.parse(day)) / DAY_MS);
  return age <= 7 || age % 7 === 0;
}

const DAY_MS = 24 * 3_600_000;
const dayOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10);

/** Makes the Parquet of one day. Throws `StoredObjectError` if a result is damaged. */
export async function makeDay(day: DayOfResults, options: ResultsToMake): Promise<MadeFolder> {
  const listed = () => options.store.list(sourceFolder(day), options);
  return makeFolder<LinesToMake>({
    ...options,
    folder: parquetFolder(day),
    make: ({ lines }) => parquetOfLines(lines(), resultFileColumns),
    files: (recorded) => resultFiles({ ...options, objects: listed() }, recorded),
  });
}

/** The results of a day that are stored now, by the files of Parquet that they go into, with those that have them. */
export const storedResults = (
  day: DayOfResults,
  objects: readonly ListedObject[],
  { store, signal }: Pick<ResultsToMake, 'store' | 'signal'>,
): Promise<readonly WithParquet<LinesToMake>[]> =>
  withParquet(store, parquetFolder(day), (recorded) => resultFiles({ store, objects, signal }, recorded));

export type ResultFilesOptions = {
  readonly store: Pick<Store, 'get'>;
  /** A day's results, in the order of their keys. */
  readonly objects: AsyncIterable<ListedObject> | Iterable<ListedObject>;
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
  { store, objects: all, signal, most = MOST }: ResultFilesOptions,
  { files, isWhole }: RecordedMade,
): AsyncGenerator<LinesToMake> {
  // The last file of all has no end.
  const ends = (isWhole ? files.slice(0, -1) : files).map(({ upTo = '' }) => upTo);
  const isEndless = (file: number) => isWhole && file === files.length - 1;
  let [index, bytes] = [0, 0];
  let objects: ListedObject[] = [];
  const cut = (): LinesToMake => {
    const file = fileOf(objects, ends[index], { store, signal });
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

type Reading = Pick<ResultFilesOptions, 'store' | 'signal'>;

function fileOf(objects: readonly ListedObject[], end: string | undefined, reading: Reading): LinesToMake {
  const hash = createHash('sha256').update(`${parquetFormat(resultFileColumns)}\n`);
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
