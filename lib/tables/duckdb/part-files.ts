import { writeFile } from 'node:fs/promises';
import PQueue from 'p-queue';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import { type Manifest, manifestOf, type Part } from '../../snapshot/manifest.ts';
import { sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { StoreError } from '../../store/error.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { makeParquet } from '../made/make-parquet.ts';
import { type ParquetInStore, parquetOfRun } from '../made/parquet-of-run.ts';
import { SourceChangedError } from '../make/make-folder.ts';
import { makeRun } from '../make/make-run.ts';
import { fetchFile, fileInPlace } from './fetch-file.ts';
import { orReport } from './or-report.ts';
import type { Session } from './session.ts';
import type { DataFile, PreparedPiece } from './table.ts';

/** How many parts are fetched or converted at once. */
const AT_ONCE = 2;

/** A published run, by the key of its manifest. */
export type RunAt = { readonly run: string; readonly manifest: string };

/** A part, and its Parquet if that is made. */
type PartToLoad = { readonly part: Part; readonly parquet: ParquetInStore | undefined };

/**
 * A run's parts as files of Parquet, in place or fetched. Parquet that is not made yet is made, or if the store takes
 * nothing, made for this query. Undefined, and reported, if the manifest is missing or damaged.
 */
export async function preparePartFiles(
  session: Session,
  place: Place,
  at: RunAt,
): Promise<PreparedPiece | undefined> {
  const { store } = session;
  const manifest = await orReport(session, manifestOf(store, at.manifest, { place, run: at.run }));
  if (manifest === undefined) return undefined;
  const found = await partsToLoad(session, place, manifest);
  const isInPlace = (each: PartToLoad) => each.parquet !== undefined && store.fileOf !== undefined;
  return {
    bytes: sizeOf(found),
    copiedBytes: sizeOf(found.filter((each) => !isInPlace(each))),
    load: async () => {
      const isWhole = found.every(({ parquet }) => parquet !== undefined);
      const parts = isWhole ? found : await madeParts(session, place, { at, manifest });
      const queue = new PQueue({ concurrency: AT_ONCE });
      const files = await queue.addAll(parts.map((each) => () => fileOf(session, place, each)));
      return files.filter((file) => file !== undefined);
    },
  };
}

async function partsToLoad(
  { store }: Session,
  place: Place,
  manifest: Manifest,
): Promise<readonly PartToLoad[]> {
  const parquet = await parquetOfRun(store, place, manifest);
  return manifest.parts.map((part, at) => ({ part, parquet: parquet[at] }));
}

/** Makes the Parquet that a run lacks, as far as that can be stored. */
async function madeParts(
  session: Session,
  place: Place,
  { at, manifest }: { readonly at: RunAt; readonly manifest: Manifest },
): Promise<readonly PartToLoad[]> {
  const { store, note, signal } = session;
  try {
    await makeRun({
      store,
      place,
      run: { ...at, marks: new Set() },
      // Its tags are for others to set.
      isLatest: true,
      made: new Set(),
      neighbours: [],
      isOver: () => false,
      isDry: false,
      warn: note,
      signal,
    });
  } catch (error) {
    const isKnown = [StoreError, StoredObjectError, SourceChangedError].some(
      (known) => error instanceof known,
    );
    if (!isKnown) throw error;
  }
  return partsToLoad(session, place, manifest);
}

const sizeOf = (parts: readonly PartToLoad[]) =>
  parts.reduce((sum, { part, parquet }) => sum + (parquet ?? part).bytes, 0);

/** A part as Parquet; undefined, and reported, if it is missing or damaged in both forms. */
async function fileOf(
  session: Session,
  place: Place,
  { part, parquet }: PartToLoad,
): Promise<DataFile | undefined> {
  if (parquet !== undefined) {
    try {
      const inPlace = await fileInPlace(session, parquet);
      const name = `${parquet.key} ${parquet.sha256}`;
      return inPlace ?? (await session.copies.get(name, (path) => fetchFile(session, parquet, path)));
    } catch (error) {
      if (!(error instanceof StoredObjectError)) throw error;
      session.note(`${error.message}; its records are read from ${part.key}`);
    }
  }
  return await session.copies.get(part.key, (path) =>
    orReport(session, convertedFile(session, place, part, path)),
  );
}

async function convertedFile(
  { store, signal }: Session,
  place: Place,
  part: Part,
  path: string,
): Promise<DataFile> {
  const { body } = await makeParquet({ store, part, signal }, sourceDefinitions[sourceOf(place)].columns);
  await writeFile(path, body);
  return { path, sizeBytes: body.byteLength };
}
