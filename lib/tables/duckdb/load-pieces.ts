import PQueue from 'p-queue';
import type { LocalCopies } from './local-copies.ts';
import type { NeededPieces } from './needed-pieces.ts';
import { QueryError } from './query-error.ts';
import type { DataFile, PreparedPiece } from './table.ts';
import type { LoadedTable } from './views.ts';

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
  const each = needed.flatMap((table) => table.needed);
  const prepared = new Map(
    await queue.addAll(
      each.map((piece) => async () => {
        signal.throwIfAborted();
        return [piece, await piece.prepare()] as const;
      }),
    ),
  );
  const found = [...prepared.values()].filter((piece) => piece !== undefined);
  const bytes = sum(found, (piece) => piece.bytes);
  if (bytes >= MUCH_BYTES) onReading?.(`reads ${size(bytes)} of ${parts(found.length)}`);
  await makeRoom(
    copies,
    sum(found, (piece) => piece.copiedBytes),
    diskBytes,
  );
  const files = new Map<PreparedPiece, readonly DataFile[]>(
    await queue.addAll(
      found.map((piece) => async () => {
        signal.throwIfAborted();
        return [piece, await piece.load()] as const;
      }),
    ),
  );
  return needed.map(({ table, needed: pieces, excluded }) => ({
    table,
    pieces: [
      ...pieces.map((piece) => {
        const ready = prepared.get(piece);
        return { values: piece.values, files: (ready && files.get(ready)) ?? [] };
      }),
      ...excluded.map((values) => ({ values, files: undefined })),
    ],
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

const sum = <T>(items: readonly T[], of: (item: T) => number) =>
  items.reduce((total, item) => total + of(item), 0);

const parts = (count: number) => `${count} ${count === 1 ? 'run or day' : 'runs or days'}`;

const size = (bytes: number) =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(0)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
