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

/** How many pieces are read at once. */
const AT_ONCE = 4;

/** So much is read in a second or two. */
const MUCH_BYTES = 50_000_000;

/** Brings what a query needs to this machine. Throws `QueryError` of kind `too-large` if there is no room for it. */
export async function loadPieces(
  needed: readonly NeededPieces[],
  { copies, diskBytes, signal, onReading }: LoadOptions,
): Promise<readonly LoadedTable[]> {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const each = needed.flatMap(({ table, pieces }) => pieces.map((piece) => ({ table, piece })));
  const prepared = await queue.addAll(
    each.map(({ table, piece: { values, prepare } }) => async () => {
      signal.throwIfAborted();
      return { table, values, ready: await prepare() };
    }),
  );
  const found = prepared.flatMap(({ ready }) => ready ?? []);
  const sum = (name: 'bytes' | 'copiedBytes') => found.reduce((total, ready) => total + ready[name], 0);
  if (sum('bytes') >= MUCH_BYTES)
    onReading?.(
      `reads ${size(sum('bytes'))} of ${found.length} ${found.length === 1 ? 'run or day' : 'runs or days'}`,
    );
  await makeRoom(copies, sum('copiedBytes'), diskBytes);
  const loaded = await queue.addAll(
    prepared.map(({ table, values, ready }) => async () => {
      signal.throwIfAborted();
      return { table, values, files: (await ready?.load()) ?? [] };
    }),
  );
  return needed.map(({ table }) => ({ table, pieces: loaded.filter((piece) => piece.table === table) }));
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
