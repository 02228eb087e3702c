import type { ListedObject, Store } from '../../store/store.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import { resultColumns } from './columns.ts';
import { type MadeFolder, makeFolder } from './make-folder.ts';
import { type LinesToMake, parquetOfLines } from './parquet-of-lines.ts';
import { type ResultFilesOptions, resultFiles } from './result-files.ts';
import { type WithParquet, withParquet } from './with-parquet.ts';

export type ResultsToMake = {
  readonly store: Store;
  /** How long results stay, in days: of an older day some may be gone already, so its Parquet is left as it is. Default: 90. */
  readonly resultsDays?: number | undefined;
  /** Days older than a week only on one day of the week. Default: false. */
  readonly isSparse?: boolean | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly isOver: () => boolean;
  readonly isDry: boolean;
  readonly signal?: AbortSignal | undefined;
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
  const { store, isOver, isDry, signal, most } = options;
  const listed = () => store.list(sourceFolder(day), signal === undefined ? {} : { signal });
  const reading = { store, format: parquetFormat(resultColumns), signal, most };
  return makeFolder<LinesToMake>({
    store,
    folder: parquetFolder(day),
    // The folders say the type.
    make: ({ lines }) =>
      parquetOfLines(lines(), resultColumns, {
        known: { version: '1', type: JSON.stringify(day.type) },
      }),
    files: (recorded) => resultFiles({ ...reading, objects: listed() }, recorded),
    isOver,
    isDry,
  });
}

/** The results of a day that are stored now, by the files of Parquet that they go into, with those that have them. */
export const storedResults = (
  day: DayOfResults,
  objects: readonly ListedObject[],
  { store, signal }: Pick<ResultsToMake, 'store' | 'signal'>,
): Promise<readonly WithParquet<LinesToMake>[]> =>
  withParquet(store, parquetFolder(day), (recorded) =>
    resultFiles({ store, objects, format: parquetFormat(resultColumns), signal }, recorded),
  );
