import PQueue from 'p-queue';
import type { LocalCopies } from './local-copies.ts';
import type { NeededPieces } from './needed-pieces.ts';
import { QueryError } from './query-error.ts';
import type { LoadedTable } from './schema.ts';

export type LoadOptions = {
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
