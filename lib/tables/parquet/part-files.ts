import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { jsonBytesOf } from '../../base/json/index.ts';
import {
  eachLine,
  type LineReader,
  type Manifest,
  NOT_A_RECORD,
  type Part,
  type PartToRead,
} from '../../snapshot/history/index.ts';
import {
  type Place,
  parquetFolder,
  type Run,
  sourceDefinitions,
  sourceOf,
} from '../../snapshot/sources/index.ts';
import { findStored, printStored, type Store, unlessDamaged } from '../../store/index.ts';
import { parquetFormat, type TableColumns } from './hive-type.ts';
import { type BuiltParquet, createParquetFile } from './parquet-writer.ts';

const parquetFile = z.object({
  /** Identifies what the file was built from (`parquetIdOf`). */
  of: z.string(),
  records: z.number(),
  bytes: z.number(),
  sha256: z.string(),
  /** How many members of its records are in `_other`. */
  other: z.number(),
});

/** Schema of the record of a run's Parquet files, in the order of the parts. */
const builtSchema = z.object({ version: z.literal(1), files: z.array(parquetFile) });

/** A recorded Parquet file of a part. */
export type ParquetFile = z.infer<typeof parquetFile>;

/** A stored Parquet file. `bytes` and `sha256` show whether it is intact. */
export type StoredParquet = { readonly key: string } & Pick<ParquetFile, 'bytes' | 'sha256'>;

type RecordedParquet = ParquetFile & StoredParquet;

/** The name of a part's Parquet file. `index`: the index of the part in the manifest. */
export const fileName = (index: number): string => `part-${String(index).padStart(5, '0')}.parquet`;

/** The key of the record. It begins with `_`, so that SQL engines do not read it. */
const builtKey = (place: Place, run: Run) => `${parquetFolder(place, run)}_made.json`;

/** Reads the recorded Parquet files of a run; an empty list if the record is missing or damaged. */
export async function readBuilt(
  store: Pick<Store, 'get'>,
  place: Place,
  run: Run,
): Promise<readonly RecordedParquet[]> {
  const found = await findStored(store, builtKey(place, run), builtSchema).catch(unlessDamaged());
  const files = found?.value.files ?? [];
  return files.map((file, index) => ({ ...file, key: `${parquetFolder(place, run)}${fileName(index)}` }));
}

/**
 * Records the Parquet files of a run. Another process may record the same files, since their bytes depend
 * only on the parts.
 */
export async function recordBuilt(
  store: Pick<Store, 'put'>,
  place: Place,
  run: Run,
  files: readonly ParquetFile[],
): Promise<void> {
  const shown = files.map(({ of, records, bytes, sha256, other }) => ({ of, records, bytes, sha256, other }));
  await store.put(builtKey(place, run), printStored({ version: 1, files: shown }));
}

/** Reads a Parquet file; undefined if it is missing or damaged, or `file` is undefined. */
export async function intactParquet(
  store: Pick<Store, 'get'>,
  file: StoredParquet | undefined,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  const body = file && (await store.get(file.key, { signal }))?.body;
  return body !== undefined && hash('sha256', body) === file?.sha256 ? body : undefined;
}

/** Identifies the bytes of a part's Parquet. Equal ids mean equal bytes, whichever process builds them. */
export const parquetIdOf = (place: Place, { sha256 }: Pick<Part, 'sha256'>): string =>
  `${parquetFormat(sourceDefinitions[sourceOf(place)].columns)} ${sha256}`;

/** The recorded Parquet file of each part of a run, in order; undefined for a part that has none yet. */
export async function parquetOfRun(
  store: Pick<Store, 'get'>,
  place: Place,
  { run: id, startedAt, parts }: Pick<Manifest, 'run' | 'startedAt' | 'parts'>,
): Promise<readonly (RecordedParquet | undefined)[]> {
  const found = await readBuilt(store, place, { id, startedAt });
  return parts.map((part, at) => (found[at]?.of === parquetIdOf(place, part) ? found[at] : undefined));
}

/**
 * Creates a function that builds the Parquet of one part after another. Memory holds the result and one row group.
 * `visit`: called with each line. The function throws `StoredObjectError`.
 */
export function createParquetBuilder(
  columns: TableColumns,
  visit?: ((reader: LineReader) => void) | undefined,
): (part: PartToRead) => Promise<BuiltParquet> {
  const file = createParquetFile(columns);
  return async ({ store, part, signal }) => {
    await eachLine({ store, parts: [part], signal }, (lines) => {
      const { json, start, end } = lines.line;
      file.add(json, start, end);
      visit?.(lines);
      file.endRow(end - start);
    });
    return file.end();
  };
}

/** Builds the Parquet of one part. Throws `StoredObjectError`. */
export const buildParquet = (part: PartToRead, columns: TableColumns): Promise<BuiltParquet> =>
  createParquetBuilder(columns)(part);

/**
 * Builds Parquet from JSON lines; undefined if there are no lines. Lines that are not JSON are reported and left out.
 */
export async function parquetOfLines(
  lines: AsyncIterable<{ readonly json: Buffer; readonly location: string }>,
  columns: TableColumns,
  report: (fault: string) => void,
): Promise<Buffer | undefined> {
  const file = createParquetFile(columns);
  // A line is checked before it is added, since adding cannot be undone.
  for await (const { json, location } of lines)
    if (isJson(json)) {
      file.add(jsonBytesOf(json), 0, json.length);
      file.endRow(json.length);
    } else report(`${location}: ${NOT_A_RECORD}`);
  const { body, records } = file.end();
  return records === 0 ? undefined : body;
}

function isJson(json: Buffer): boolean {
  try {
    JSON.parse(json.toString());
    return true;
  } catch {
    return false;
  }
}
