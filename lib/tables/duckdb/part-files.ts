import { writeFile } from 'node:fs/promises';
import PQueue from 'p-queue';
import type { Manifest, ParquetPart, Part } from '../../snapshot/manifest.ts';
import { makeParquet } from '../../snapshot/publish/make-parquet.ts';
import type { Columns } from '../../snapshot/sources/source-definition.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { fetchFile, fileInPlace } from './fetch-file.ts';
import { orReport } from './or-report.ts';
import type { Session } from './session.ts';
import type { DataFile, PreparedPiece } from './table.ts';

/** How many parts are fetched or converted at once. */
const AT_ONCE = 2;

/** A part, and its Parquet if it was published with it. */
type PartToLoad = { readonly part: Part; readonly parquet: ParquetPart | undefined };

/** A run's parts as files of Parquet: in place, fetched, or made of the parts for runs that have none. */
export function createPartFiles(session: Session, columns: Columns, manifest: Manifest): PreparedPiece {
  const { parts, parquet } = manifest;
  const all = parts.map(
    (part, at): PartToLoad => ({
      part,
      parquet: parquet?.parts.length === parts.length ? parquet.parts[at] : undefined,
    }),
  );
  const isInPlace = (each: PartToLoad) => each.parquet !== undefined && session.store.fileOf !== undefined;
  return {
    bytes: sizeOf(all),
    copiedBytes: sizeOf(all.filter((each) => !isInPlace(each))),
    load: async () => {
      const queue = new PQueue({ concurrency: AT_ONCE });
      const files = await queue.addAll(all.map((each) => () => fileOf(session, columns, each)));
      return files.filter((file) => file !== undefined);
    },
  };
}

const sizeOf = (parts: readonly PartToLoad[]) =>
  parts.reduce((sum, { part, parquet }) => sum + (parquet ?? part).bytes, 0);

/** A part as Parquet; undefined, and reported, if it is missing or damaged in both forms. */
async function fileOf(
  session: Session,
  columns: Columns,
  { part, parquet }: PartToLoad,
): Promise<DataFile | undefined> {
  if (parquet !== undefined) {
    try {
      const inPlace = await fileInPlace(session, parquet);
      return inPlace ?? (await session.copies.get(parquet.key, (path) => fetchFile(session, parquet, path)));
    } catch (error) {
      if (!(error instanceof StoredObjectError)) throw error;
      session.note(`${error.message}; its records are read from ${part.key}`);
    }
  }
  return await session.copies.get(part.key, (path) =>
    orReport(session, convertedFile(session, columns, part, path)),
  );
}

async function convertedFile(
  { store, signal }: Session,
  columns: Columns,
  part: Part,
  path: string,
): Promise<DataFile> {
  const { body } = await makeParquet({ store, part, signal }, columns);
  await writeFile(path, body);
  return { path, sizeBytes: body.byteLength };
}
