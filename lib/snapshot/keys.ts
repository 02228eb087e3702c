import * as z from 'zod/mini';
import { isKey } from '../store/index.ts';
import { isSource, type Source } from './sources/sources.ts';

/** The folder under which runs are published: the source's name, plus the name of a narrowed snapshot if given. */
export type Place = Source | `${Source}.${string}`;

/** The place of a source's narrowed snapshot with this name; without a name, the source's own place. */
export const placeOf = (source: Source, name: string | undefined): Place =>
  name === undefined ? source : `${source}.${name}`;

/** Splits a place into its source and its name; the source's own place has no name. Throws `TypeError`. */
export function splitPlace(place: Place): { readonly source: Source; readonly name: string | undefined } {
  const { source, name } = split(place);
  if (isSource(source)) return { source, name };
  throw new TypeError(`${place}: expected SOURCE or SOURCE.NAME`);
}

/** The source of a place. */
export const sourceOf = (place: Place): Source => splitPlace(place).source;

/** Parses `SOURCE` or `SOURCE.NAME`; undefined if the string is not a place. */
export function parsePlace(text: string): Place | undefined {
  const { source, name } = split(text);
  if (!isSource(source) || !isKey(text) || text.includes('/') || name === '') return undefined;
  return placeOf(source, name);
}

/** Schema of a place. It also refuses names that cannot be a key in the store. */
export const placeSchema = z.custom<Place>(
  (value) => typeof value === 'string' && parsePlace(value) !== undefined,
  { error: 'SOURCE or SOURCE.NAME' },
);

function split(text: string) {
  const at = text.indexOf('.');
  return at < 0 ? { source: text, name: undefined } : { source: text.slice(0, at), name: text.slice(at + 1) };
}

export type Compression = 'gzip' | 'zstd';
/** The file suffix of each compression, without the dot. */
export const compressionSuffix = { gzip: 'gz', zstd: 'zst' } as const satisfies Record<Compression, string>;

/** Whether a string has the form of a run's name, such as `20261121T091500Z-3fa9c1`. */
export const isRunId = (text: string): boolean => /^\d{8}T\d{6}Z-[0-9a-f]{6}$/.test(text);

/** The folder of a run while it is in progress. Ends in a slash. */
export const workFolder = (place: Place, run: Pick<Run, 'id'>) => `work/${place}/${run.id}/`;

/** The folder of a published run. Ends in a slash. */
export const publishedFolder = (place: Place, run: Run) =>
  `${place}/dt=${run.startedAt.slice(0, 10)}/run=${run.id}/`;

/** The folder of a published run's Parquet files. Ends in a slash. */
export const parquetFolder = (place: Place, run: Run) => `parquet/${publishedFolder(place, run)}`;

/**
 * The folder of the object that lists the Parquet files of a source's latest run or, if there is no whole run, of the
 * latest runs of its narrowed places. Ends in a slash.
 */
export const latestParquetFolder = (source: Source) => `parquet/latest/${source}/`;

/**
 * The key of the changes between two runs. `token` gives each comparison its own folder, so that changes listed in a
 * manifest are never overwritten or deleted.
 */
export const changesKey = (place: Place, run: Run, against: string, token: string) =>
  `changes/${publishedFolder(place, run)}against=${against}-${token}/part.ndjson.gz`;

/**
 * The prefixes of all objects that a run has outside `work/`: `folder`, which is the run's published folder, and the
 * folders of its Parquet files, uses and changes.
 */
export const foldersOf = (folder: string) =>
  [folder, `parquet/${folder}`, `parquet/uses/${folder}`, `changes/${folder}`] as const;

/** The key of `latest.json`, which records the last published run of a place. */
export const latestKey = (place: Place) => `${place}/latest.json`;

/** The name of a part in a run's folder. `index`: the number of the part; 0 is the first. */
export const partName = (index: number, sha256: string, compression: Compression) =>
  `part-${String(index).padStart(5, '0')}-${sha256.slice(0, 12)}.ndjson.${compressionSuffix[compression]}`;

/** The compression of a part, by the suffix of its key. */
export const compressionOf = (partKey: string): Compression =>
  partKey.endsWith(`.${compressionSuffix.zstd}`) ? 'zstd' : 'gzip';

/** The name of the manifest in a run's folder. */
export const MANIFEST_NAME = '_manifest.json';

/** True for the key of a run's manifest. A run that was published more than once may have `_manifest-TOKEN.json`. */
export const isManifestKey = (key: string): boolean => /(?:^|\/)_manifest(?:-[0-9a-f]+)?\.json$/.test(key);

/** The run whose published folder contains this key; undefined if the key is not in such a folder. */
export const runOfKey = (key: string): string | undefined => /\/run=([^/]+)\//.exec(key)?.[1];

/** The name of an object in a run's folder. It exists once all objects of the run have been tagged as replaced. */
export const TAGGED_NAME = '_tagged.json';

/** The tag of objects of published runs. If its value is `REPLACED`, the lifecycle rule for runs lets them expire. */
export const RUN_TAG = 'platform-sync-run';

/** The value of `RUN_TAG` for a run that another one has replaced. */
export const REPLACED = 'replaced';

/** The value of `RUN_TAG` for a run that had been replaced and is now the newest again. */
export const LATEST_AGAIN = 'latest';

/** A run, as its name and its start identify it. */
export type Run = {
  /** The run's name; it sorts by the start of the run: `20261121T091500Z-3fa9c1`. */
  readonly id: string;
  /** When it started, ISO 8601 with milliseconds, UTC. */
  readonly startedAt: string;
};

/** The run with this name. Its start is read from the name, so it has no fraction of a second. */
export function runOfId(id: string): Run {
  const start = id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-.*$/, '$1-$2-$3T$4:$5:$6.000Z');
  return { id, startedAt: start };
}
