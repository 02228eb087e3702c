import { createHash } from 'node:crypto';
import { once } from '../../once.ts';
import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { parquetFormat } from '../../tables/parquet/parquet-format.ts';
import { parquetName, parquetSeriesOf } from '../keys.ts';
import { type Manifest, type ParquetPart, type Part, parquetPartSchema } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { onceStored } from './stored-outcome.ts';

export type ParquetToPublish = {
  readonly store: Store;
  readonly source: Source;
  /** The published parts, in order. */
  readonly parts: readonly Part[];
  /** Where the Parquet goes, and where it is recorded which is stored. Both end in a slash. */
  readonly folder: string;
  readonly records: string;
  /** See `seriesOf`. */
  readonly series: number;
  /** The run that was published last, and the folder of its Parquet. */
  readonly last: { readonly manifest: Manifest; readonly folder: string } | undefined;
  /** Asked after each file: true ends the slice. */
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Stores the Parquet of each published part, and records each: whoever resumes makes only what is not recorded, or was
 * lost. What the last run has of a part with the same bytes is copied. Returns them, or undefined if the slice is over before the
 * last. Throws `StoredObjectError` if a part is missing, altered, or holds a line that is not JSON.
 */
export async function publishParquet(
  options: ParquetToPublish,
): Promise<NonNullable<Manifest['parquet']> | undefined> {
  const { store, source, parts, folder, records, series, isOver } = options;
  const { columns } = sourceDefinitions[source];
  // Only what publishes needs the writer.
  const maker = once(async () => (await import('./make-parquet.ts')).createParquetMaker(columns));
  const format = parquetFormat(columns);
  const earlier = await earlierParquet(options, format);
  const sizes = await sizesIn(store, folder);
  const stored: ParquetPart[] = [];
  for (const [index, part] of parts.entries()) {
    const record = `${records}parquet-${format}-${String(index).padStart(5, '0')}.json`;
    const nameOf = (sha256: string) => `${folder}${parquetName(index, sha256, series)}`;
    const { outcome, isNew } = await onceStored(
      store,
      record,
      parquetPartSchema,
      async () =>
        (await copied(options, earlier.get(part.sha256), nameOf)) ??
        made(options, await maker(), part, nameOf),
      ({ key, bytes }) => parquetSeriesOf(key) === series && sizes.get(key) === bytes,
    );
    stored.push(outcome);
    if (isNew && isOver()) return undefined;
  }
  return { format, parts: stored, other: stored.reduce((sum, { other }) => sum + other, 0) };
}

/** The last run's Parquet of the parts that both runs have, by their sha256, as far as it is there and of this format. */
async function earlierParquet(
  { store, parts, last }: ParquetToPublish,
  format: string,
): Promise<ReadonlyMap<string, ParquetPart>> {
  const found = new Map<string, ParquetPart>();
  if (last?.manifest.parquet?.format !== format) return found;
  const wanted = new Set(parts.map(({ sha256 }) => sha256));
  const { parquet } = last.manifest;
  const candidates = last.manifest.parts.flatMap(({ sha256 }, index) => {
    const part = parquet.parts[index];
    return part !== undefined && wanted.has(sha256) ? [{ sha256, part }] : [];
  });
  if (candidates.length === 0) return found;
  const sizes = await sizesIn(store, last.folder);
  for (const { sha256, part } of candidates) if (sizes.get(part.key) === part.bytes) found.set(sha256, part);
  return found;
}

async function sizesIn(store: Store, folder: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  return sizes;
}

type ParquetMaker = ReturnType<typeof import('./make-parquet.ts').createParquetMaker>;

type NameOf = (sha256: string) => string;

/** Undefined if there is nothing to copy. */
async function copied(
  { store }: ParquetToPublish,
  earlier: ParquetPart | undefined,
  nameOf: NameOf,
): Promise<ParquetPart | undefined> {
  if (earlier === undefined) return undefined;
  const key = nameOf(earlier.sha256);
  if (key === earlier.key) return earlier;
  try {
    await store.copy(earlier.key, key);
    return { ...earlier, key };
  } catch (error) {
    // Deleted since it was listed.
    if (error instanceof StoreError && error.failure.kind === 'missing') return undefined;
    throw error;
  }
}

async function made(
  { store, signal }: ParquetToPublish,
  make: ParquetMaker,
  part: Part,
  nameOf: NameOf,
): Promise<ParquetPart> {
  const { body, records, other } = await make({ store, part, signal });
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = nameOf(sha256);
  await store.put(key, body, { sha256, contentType: 'application/vnd.apache.parquet' });
  return { key, records, bytes: body.byteLength, sha256, other };
}
