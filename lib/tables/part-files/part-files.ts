import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { jsonBytesOf } from '../../base/bytes/index.ts';
import {
  eachLine,
  type LineReader,
  type Manifest,
  NO_RECORD,
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
import { parquetFormat, type TableColumns } from '../parquet/hive-type.ts';
import { createParquetFile, type MadeParquet } from '../parquet/parquet-writer.ts';

const madeFile = z.object({
  /** Names what the file was made of: another name, another file. */
  of: z.string(),
  records: z.number(),
  bytes: z.number(),
  sha256: z.string(),
  /** How many members of its records are in `_other`. */
  other: z.number(),
});

/** What is recorded of a run's Parquet: its files, in the order of the parts that they were made of. */
const madeSchema = z.object({ version: z.literal(1), files: z.array(madeFile) });

export type MadeFile = z.infer<typeof madeFile>;

export type ParquetInStore = { readonly key: string } & Pick<MadeFile, 'bytes' | 'sha256'>;

export type RecordedParquet = MadeFile & ParquetInStore;

/** The name of a file, by the place of its part in the manifest. */
export const fileName = (index: number): string => `part-${String(index).padStart(5, '0')}.parquet`;

/** No SQL engine reads a name that begins with `_`. */
const madeKey = (place: Place, run: Run) => `${parquetFolder(place, run)}_made.json`;

/** The Parquet of a run that is recorded. A damaged record records nothing. */
export async function readMade(
  store: Pick<Store, 'get'>,
  place: Place,
  run: Run,
): Promise<readonly RecordedParquet[]> {
  const found = await findStored(store, madeKey(place, run), madeSchema).catch(unlessDamaged());
  const files = found?.value.files ?? [];
  return files.map((file, index) => ({ ...file, key: `${parquetFolder(place, run)}${fileName(index)}` }));
}

/** Records it. Whoever else does this has the same files, or some of them: the bytes depend on the parts alone. */
export async function writeMade(
  store: Pick<Store, 'put'>,
  place: Place,
  run: Run,
  files: readonly MadeFile[],
): Promise<void> {
  const shown = files.map(({ of, records, bytes, sha256, other }) => ({ of, records, bytes, sha256, other }));
  await store.put(madeKey(place, run), printStored({ version: 1, files: shown }));
}

/** A Parquet file as it was recorded; undefined if it was not, or is lost or damaged. */
export async function soundParquet(
  store: Pick<Store, 'get'>,
  file: ParquetInStore | undefined,
  signal?: AbortSignal,
): Promise<Buffer | undefined> {
  const body = file && (await store.get(file.key, { signal }))?.body;
  return body !== undefined && hash('sha256', body) === file?.sha256 ? body : undefined;
}

/** What the Parquet of a part of a place is made of: it names the bytes, whoever makes them. */
export const madeOf = (place: Place, { sha256 }: Pick<Part, 'sha256'>): string =>
  `${parquetFormat(sourceDefinitions[sourceOf(place)].columns)} ${sha256}`;

/** The Parquet of a run's parts, in their order, as far as it is recorded. */
export async function parquetOfRun(
  store: Pick<Store, 'get'>,
  place: Place,
  { run: id, startedAt, parts }: Pick<Manifest, 'run' | 'startedAt' | 'parts'>,
): Promise<readonly (RecordedParquet | undefined)[]> {
  const found = await readMade(store, place, { id, startedAt });
  return parts.map((part, at) => (found[at]?.of === madeOf(place, part) ? found[at] : undefined));
}

/**
 * One part after another in the same memory: one row group, besides the result. `see` gets each line, too. Throws
 * `StoredObjectError`.
 */
export function createParquetMaker(
  columns: TableColumns,
  see?: ((reader: LineReader) => void) | undefined,
): (part: PartToRead) => Promise<MadeParquet> {
  const file = createParquetFile(columns);
  return async ({ store, part, signal }) => {
    await eachLine({ store, parts: [part], signal }, (lines) => {
      const { json, start, end } = lines.line;
      file.add(json, start, end);
      see?.(lines);
      file.endRow(end - start);
    });
    return file.end();
  };
}

export const makeParquet = (part: PartToRead, columns: TableColumns): Promise<MadeParquet> =>
  createParquetMaker(columns)(part);

/** A line of JSON, and where it is, for messages. */
export type PlacedLine = { readonly json: Buffer; readonly place: string };

/** Makes Parquet of JSON lines; undefined if there are none. `report` receives those that are no JSON, which are left out. */
export async function parquetOfLines(
  lines: AsyncIterable<PlacedLine>,
  columns: TableColumns,
  report: (fault: string) => void,
): Promise<Buffer | undefined> {
  const file = createParquetFile(columns);
  // Before it is added: what is added is not taken back.
  for await (const { json, place } of lines)
    if (isJson(json)) {
      file.add(jsonBytesOf(json), 0, json.length);
      file.endRow(json.length);
    } else report(`${place}: ${NO_RECORD}`);
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
