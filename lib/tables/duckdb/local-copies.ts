import { hash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import type { NeededPieces } from './needed-pieces.ts';
import { QueryError } from './query-error.ts';
import type { LoadedTable } from './schema.ts';

/** A file of Parquet on this machine. */
export type DataFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** True if something was missing or damaged and is not in it. Default: false. */
  readonly isPartial?: boolean | undefined;
};

/** A file in the temporary folder that stands for something in the store; `undefined` if that is missing or damaged. */
type Made = Promise<DataFile | undefined>;

/** The files in the temporary folder, by what they stand for: later queries of a session use them again. */
export type LocalCopies = {
  /** The copy of `name`, which `make` writes to `path` if there is none. */
  readonly get: (name: string, make: (path: string) => Made) => Made;
  /** Their bytes. */
  readonly sizeBytes: () => number;
  /** Says that a query is using them until this is disposed of. */
  readonly use: () => Disposable;
  /** Deletes all of them, unless more than one query is using them: then false. */
  readonly clear: () => Promise<boolean>;
};

/** Files in `folder`, without any at first. */
export function createLocalCopies(folder: string): LocalCopies {
  const copies = new Map<string, Made>();
  const paths: string[] = [];
  let [sizeBytes, users] = [0, 0];
  return {
    get(name, make) {
      const known = copies.get(name);
      if (known !== undefined) return known;
      const path = join(folder, hash('sha256', `${paths.length} ${name}`));
      paths.push(path);
      const made = make(path).then((file) => {
        // What is damaged is reported to each query that reads it.
        if (file === undefined || file.isPartial === true) copies.delete(name);
        sizeBytes += file?.sizeBytes ?? 0;
        return file;
      });
      copies.set(name, made);
      made.catch(() => copies.delete(name));
      return made;
    },
    sizeBytes: () => sizeBytes,
    use() {
      users += 1;
      return {
        [Symbol.dispose]() {
          users -= 1;
        },
      };
    },
    async clear() {
      if (users > 1) return false;
      await Promise.allSettled(copies.values());
      copies.clear();
      sizeBytes = 0;
      for (const path of paths.splice(0)) await rm(path, { force: true });
      return true;
    },
  };
}

type LoadOptions = {
  readonly copies: LocalCopies;
  /** The most bytes that all copies may have. */
  readonly diskBytes: number;
  readonly signal: AbortSignal;
  /** Called before much is read. */
  readonly onReading?: ((words: string) => void) | undefined;
};

/** How many pieces are looked for, and then how many files are fetched or made, at once. */
const AT_ONCE = 4;

/** So much is read in a second or two. */
const MUCH_BYTES = 50_000_000;

/** Brings what a query needs to this machine. Throws `QueryError` of kind `too-large` if there is no room for it. */
export async function loadPieces(
  needed: readonly NeededPieces[],
  { copies, diskBytes, signal, onReading }: LoadOptions,
): Promise<readonly LoadedTable[]> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const all = <T>(work: readonly (() => Promise<T>)[]) =>
    queue.addAll(
      work.map((each) => async () => {
        signal.throwIfAborted();
        return await each();
      }),
    );
  const each = needed.flatMap(({ table, pieces }) => pieces.map((piece) => ({ table, piece })));
  const found = await all(
    each.map(({ table, piece: { values, files } }) => async () => ({ table, values, files: await files() })),
  );
  const files = found.flatMap((piece) => piece.files.map((file) => ({ ...piece, file })));
  const sum = (name: 'bytes' | 'copiedBytes') => files.reduce((total, { file }) => total + file[name], 0);
  const runs = found.filter((piece) => piece.files.length > 0).length;
  if (sum('bytes') >= MUCH_BYTES)
    onReading?.(`reads ${size(sum('bytes'))} of ${runs} ${runs === 1 ? 'run or day' : 'runs or days'}`);
  await makeRoom(copies, sum('copiedBytes'), diskBytes);
  const opened = await all(
    files.map(({ table, values, file }) => async () => ({ table, values, path: (await file.open())?.path })),
  );
  return needed.map(({ table }) => ({
    table,
    files: opened.flatMap(({ table: of, values, path }) =>
      of === table && path !== undefined ? [{ path, values }] : [],
    ),
  }));
}

/** Deletes the copies of earlier queries if there is too little room beside them. */
async function makeRoom(copies: LocalCopies, neededBytes: number, diskBytes: number): Promise<void> {
  const hasRoom = neededBytes <= diskBytes - copies.sizeBytes();
  if (hasRoom || (neededBytes <= diskBytes && (await copies.clear()))) return;
  throw new QueryError(
    `the query needs ${size(neededBytes)} in the temporary folder, which may have ${size(diskBytes)}: narrow it by dt or run, or allow more`,
    { kind: 'too-large' },
  );
}

const size = (bytes: number) =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
