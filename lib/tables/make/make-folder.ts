import { hash } from 'node:crypto';
import type { ListedObject, PutCondition, Store } from '../../store/index.ts';
import {
  type FileToMake,
  fileName,
  filesIn,
  isMade,
  type Made,
  type MadeFile,
  type RecordedMade,
  readMade,
  writeMade,
} from '../made/made-files.ts';
import type { MadeParquet } from '../parquet/parquet-writer.ts';

/** How tables are made. */
export type MakeOptions = {
  readonly store: Store;
  /** Asked after each file that was made: true ends the work. */
  readonly isOver: () => boolean;
  /** Only count what is missing. */
  readonly isDry: boolean;
  readonly signal?: AbortSignal | undefined;
};

export type FolderToMake<File extends FileToMake> = MakeOptions & {
  /** Ends in a slash. */
  readonly folder: string;
  /** Makes a file; undefined if nothing goes in. Throws `SourceChangedError` if something is gone that was there before. */
  readonly make: (file: File) => Promise<MadeParquet | undefined>;
  /** The files that it is to have, in order, given what is recorded of it. They may be asked for again. */
  readonly files: (recorded: RecordedMade) => AsyncIterable<File> | Iterable<File>;
  /** Whether a file that has just been stored may stay. If not, it is deleted, and the folder is made again. Default: yes. */
  readonly mayStay?: () => Promise<boolean>;
};

/** What was made, or would be; `isLeft` if there is more to do. */
export type MadeFolder = {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly other: number;
  readonly isLeft: boolean;
};

/** What something is made of was changed meanwhile: it is looked at again. */
export class SourceChangedError extends Error {
  override readonly name = 'SourceChangedError';
}

/** How often others may change what is read or written here before we give up. */
const MOST_ROUNDS = 10;

/**
 * Makes the Parquet files of a folder that are missing, or were made of something else. Each is replaced at once, by a
 * conditional put, and then recorded: whoever is killed, or stops, leaves the rest to the next call, and of two that do
 * it at the same time the one that is behind looks again. Throws `StoredObjectError` if a source is damaged.
 */
export async function makeFolder<File extends FileToMake>(folder: FolderToMake<File>): Promise<MadeFolder> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    try {
      return await tryToMake(folder);
    } catch (error) {
      if (!(error instanceof SourceChangedError)) throw error;
    }
  }
  throw new SourceChangedError(`${folder.folder} was changed by others ${MOST_ROUNDS} times in a row`);
}

async function tryToMake<File extends FileToMake>(options: FolderToMake<File>): Promise<MadeFolder> {
  const { store, folder, files, isOver, isDry } = options;
  let recorded = await readMade(store, folder);
  const stored = await filesIn(store, folder);
  // Nobody knows which rows they have. Rows that are missing for a moment are better than rows that are there twice.
  if (!recorded.isKnown && !isDry) for (const key of stored.keys()) await store.delete(key);
  const counts = { files: 0, records: 0, bytes: 0, other: 0 };
  let index = 0;
  for await (const file of files(recorded)) {
    const key = `${folder}${fileName(index)}`;
    const known = recorded.files[index];
    if (!isMade(store, known, { of: file.of, stored: stored.get(key) })) {
      counts.files += 1;
      if (!isDry) {
        const made = await putFile(options, file, { key, known, recorded });
        counts.records += made.records;
        counts.bytes += made.bytes;
        counts.other += made.other;
        recorded = await record(options, recorded, { files: recorded.files.toSpliced(index, 1, made) });
        if (isOver()) return { ...counts, isLeft: true };
      }
    }
    index += 1;
  }
  if (!isDry) await finish(options, recorded, { index, stored });
  return { ...counts, isLeft: false };
}

type FileInFolder = {
  readonly key: string;
  readonly known: MadeFile | undefined;
  readonly recorded: RecordedMade;
};

/** Makes a file and stores it, unless others have stored one since it was looked at. */
async function putFile<File extends FileToMake>(
  { store, folder, make, mayStay }: FolderToMake<File>,
  file: File,
  { key, known, recorded }: FileInFolder,
): Promise<MadeFile> {
  const { of, upTo } = file;
  const made = await make(file);
  const about = { of, ...(upTo === undefined ? {} : { upTo }) };
  if (made === undefined) {
    await store.delete(key);
    return { ...about, etag: null, records: 0, bytes: 0, sha256: null, other: 0 };
  }
  const { body, records, other } = made;
  const put = (etag: string | undefined) => store.put(key, body, { ...asItWas(etag), contentType: PARQUET });
  let stored = await put(known?.etag ?? undefined);
  if (stored.kind === 'condition-failed') {
    const there = await store.get(key);
    // If it was not recorded, whoever stored it was stopped before that.
    if ((await readMade(store, folder)).etag !== recorded.etag) throw new SourceChangedError(folder);
    stored = await put(there?.etag);
  }
  if (stored.kind === 'condition-failed') throw new SourceChangedError(folder);
  if (mayStay !== undefined && !(await mayStay())) {
    await store.delete(key);
    throw new SourceChangedError(folder);
  }
  const sha256 = hash('sha256', body);
  return { ...about, etag: stored.etag, records, bytes: body.byteLength, sha256, other };
}

const PARQUET = 'application/vnd.apache.parquet';

const asItWas = (etag: string | undefined): { readonly condition: PutCondition } => ({
  condition: etag === undefined ? { ifAbsent: true } : { ifMatch: etag },
});

type Folder = Pick<FolderToMake<never>, 'store' | 'folder'>;

async function record(
  { store, folder }: Folder,
  before: RecordedMade,
  change: Partial<Made>,
): Promise<RecordedMade> {
  const written = await writeMade(store, folder, { ...before, ...change }, before.etag);
  if (written === undefined) throw new SourceChangedError(folder);
  return written;
}

/** Deletes the files that are no longer needed, and records that all others have been made. */
async function finish(
  options: Folder,
  recorded: RecordedMade,
  { index, stored }: { readonly index: number; readonly stored: ReadonlyMap<string, ListedObject> },
): Promise<void> {
  const { store, folder } = options;
  const needed = new Set(recorded.files.slice(0, index).map((_, each) => `${folder}${fileName(each)}`));
  if (recorded.isKnown) for (const key of stored.keys()) if (!needed.has(key)) await store.delete(key);
  const isSame = recorded.isWhole && recorded.files.length === index;
  if (!isSame) await record(options, recorded, { isWhole: true, files: recorded.files.slice(0, index) });
}
