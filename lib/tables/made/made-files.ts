import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { type Place, parquetFolder, sourceOf } from '../../snapshot/keys.ts';
import type { Manifest, Part } from '../../snapshot/manifest.ts';
import { sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { type ListedObject, parseStored, printStored, type Store, unlessDamaged } from '../../store/index.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';

const madeFile = z.object({
  /** Names what the file was made of: another name, another file. */
  of: z.string(),
  /** Null if there was nothing to put in it: then there is no file. */
  etag: z.nullable(z.string()),
  /** The last key that went in when it was first made, if keys decide what goes in. */
  upTo: z.optional(z.string()),
  records: z.number(),
  bytes: z.number(),
  sha256: z.nullable(z.string()),
  /** How many members of its records are in `_other`. */
  other: z.number(),
});

/** One Parquet file of a folder. */
export type MadeFile = z.infer<typeof madeFile>;

/** A file that a folder is to have. */
export type FileToMake = Pick<MadeFile, 'of' | 'upTo'>;

const madeSchema = z.object({
  version: z.literal(1),
  /** False until every file has been made once. */
  isWhole: z.boolean(),
  files: z.array(madeFile),
});

/** What is recorded of a folder of Parquet: its files, in order. */
export type Made = Omit<z.infer<typeof madeSchema>, 'version'>;

/** The record, and its etag; undefined if there is none. A damaged one is as if it recorded nothing. */
export type RecordedMade = Made & { readonly etag: string | undefined; readonly isKnown: boolean };

/** No SQL engine reads a name that begins with `_`. */
const MADE_NAME = '_made.json';

/** The name of a file, by its place in the folder: it is replaced at once, so no query sees a row twice. */
export const fileName = (index: number): string => `part-${String(index).padStart(5, '0')}.parquet`;

/**
 * True if a file is there as it was recorded, made of the same. In S3 its etag shows that no process has stored another
 * one which was stopped before it recorded that.
 */
export function isMade(
  { location }: Pick<Store, 'location'>,
  known: MadeFile | undefined,
  now: { readonly of: string; readonly stored: ListedObject | undefined },
): boolean {
  const { of, stored } = now;
  if (known?.of !== of) return false;
  if (known.etag === null || stored === undefined) return known.etag === null && stored === undefined;
  const mayDiffer = location.startsWith('s3://') && stored.mark !== known.etag;
  return stored.sizeBytes === known.bytes && !mayDiffer;
}

/** The files of Parquet in a folder, by their keys. */
export async function filesIn(
  store: Pick<Store, 'list'>,
  folder: string,
): Promise<ReadonlyMap<string, ListedObject>> {
  const found = new Map<string, ListedObject>();
  for await (const object of store.list(folder))
    if (object.key.endsWith('.parquet')) found.set(object.key, object);
  return found;
}

/** What is recorded of a folder of which nothing is made. */
const NOTHING_MADE: RecordedMade = { isWhole: false, files: [], etag: undefined, isKnown: false };

/** Reads what is recorded of a folder, which ends in a slash. */
export async function readMade(store: Pick<Store, 'get'>, folder: string): Promise<RecordedMade> {
  const key = `${folder}${MADE_NAME}`;
  const stored = await store.get(key);
  if (stored === undefined) return NOTHING_MADE;
  const { body, etag } = stored;
  const made = await Promise.try(() => parseStored(key, body, madeSchema)).catch(unlessDamaged());
  return made === undefined ? { ...NOTHING_MADE, etag } : { ...made, etag, isKnown: true };
}

/** Replaces the record if it still is the one that was read; undefined if another process has replaced it. */
export async function writeMade(
  store: Pick<Store, 'put'>,
  folder: string,
  { isWhole, files }: Made,
  etag: string | undefined,
): Promise<RecordedMade | undefined> {
  const condition = etag === undefined ? ({ ifAbsent: true } as const) : { ifMatch: etag };
  const body = printStored({ version: 1, isWhole, files });
  const put = await store.put(`${folder}${MADE_NAME}`, body, { condition });
  return put.kind === 'stored' ? { isWhole, files, etag: put.etag, isKnown: true } : undefined;
}

/** A file of Parquet in the store. */
export type ParquetInStore = { readonly key: string; readonly bytes: number; readonly sha256: string };

/** The same, as it is recorded. */
export type RecordedParquet = ParquetInStore & Pick<MadeFile, 'records' | 'other'>;

/** A Parquet file as it was recorded; undefined if it was not, or is lost or damaged. */
export async function soundParquet(
  store: Pick<Store, 'get'>,
  file: ParquetInStore | undefined,
): Promise<Buffer | undefined> {
  const body = file && (await store.get(file.key))?.body;
  return body !== undefined && hash('sha256', body) === file?.sha256 ? body : undefined;
}

/** What the Parquet of a part of a place is made of: it names the bytes, whoever makes them. */
export const madeOf = (place: Place, { sha256 }: Pick<Part, 'sha256'>): string =>
  `${parquetFormat(sourceDefinitions[sourceOf(place)].columns)} ${sha256}`;

/** The Parquet of a run that is recorded, by what it was made of. */
export async function recordedParquet(
  store: Pick<Store, 'get'>,
  place: Place,
  run: { readonly id: string; readonly startedAt: string },
): Promise<ReadonlyMap<string, RecordedParquet>> {
  const folder = parquetFolder(place, run);
  const { files } = await readMade(store, folder);
  const found = new Map<string, RecordedParquet>();
  for (const [index, { of, sha256, ...file }] of files.entries())
    if (sha256 !== null) found.set(of, { key: `${folder}${fileName(index)}`, sha256, ...file });
  return found;
}

/** The Parquet of a run's parts, in their order, as far as it is recorded. */
export async function parquetOfRun(
  store: Pick<Store, 'get'>,
  place: Place,
  { run: id, startedAt, parts }: Pick<Manifest, 'run' | 'startedAt' | 'parts'>,
): Promise<readonly (RecordedParquet | undefined)[]> {
  const found = await recordedParquet(store, place, { id, startedAt });
  return parts.map((part) => found.get(madeOf(place, part)));
}
