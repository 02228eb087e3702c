import { JsonLimitError } from '../../base/index.ts';
import { PlatformError } from '../../platform/index.ts';
import type { Store } from '../../store/index.ts';
import { type Place, sourceOf, workFolder } from '../keys.ts';
import type { Part } from '../manifest.ts';
import type { ScanOutcome, ScanStep } from '../scan.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { type Checkpoint, recordPart, saveCheckpoint } from './checkpoint.ts';
import { createPartWriter } from './part-writer.ts';
import { collectMissing } from './stored-missing.ts';
import { type CountCalls, countTaken } from './taken.ts';

/** A checkpoint and the etag of its stored object. */
export type Saved = { readonly checkpoint: Checkpoint; readonly etag: string };

export type ProgressOptions = {
  readonly store: Store;
  /** Calls made in this process so far. */
  readonly callCounts: CountCalls;
  /** See `PartWriterOptions`. */
  readonly mostLineBytes?: number | undefined;
  readonly partBytes?: number | undefined;
};

/** What a slice has taken since its checkpoint, and how it becomes durable. */
export async function startProgress(saved: Saved, { store, callCounts, ...limits }: ProgressOptions) {
  let { checkpoint, etag } = saved;
  const { source, run, compression } = checkpoint;
  const taken = countTaken(checkpoint, callCounts);
  const folder = workFolder(source, { id: run });
  const writer = createPartWriter({ store, compression, folder, ...limits });
  if (checkpoint.open !== null) await writer.resume(checkpoint.open);
  const deleteReplaced = createDeletion(store, checkpoint.open?.key);
  const found = collectMissing(store, folder, checkpoint.missing);

  async function record(part: Part): Promise<void> {
    const lastPart = await recordPart(store, part, checkpoint.lastPart);
    checkpoint = { ...checkpoint, lastPart, parts: checkpoint.parts + 1 };
  }

  /** Makes the added records durable, and moves the checkpoint past them. */
  const save = inTurn(async (outcome: ScanOutcome | null): Promise<Saved> => {
    if (outcome !== null) await writer.end();
    while (await writer.storeEnded(checkpoint.parts, record));
    const facts = { ...taken.facts(), missing: await found.store() };
    const open = await writer.storeOpen();
    checkpoint = { ...checkpoint, open, ...facts, outcome };
    etag = await saveCheckpoint(store, checkpoint, etag);
    taken.isDurable();
    await deleteReplaced(open?.key, checkpoint.segment?.open?.key);
    return { checkpoint, etag };
  });
  return {
    save,
    records: taken.records,
    /** True once a part has ended that is not durable. */
    hasEnded: writer.hasEnded,
    /** Milliseconds since the first record that is not durable was added; 0 if all are. */
    unsavedMs: taken.unsavedMs,
    /**
     * Adds the records and missing ids of a step, and the position after them. Throws `PlatformError` if the records of
     * the run have more names of fields than it can hold.
     */
    async add({ batch, position, missing = [] }: ScanStep<unknown>): Promise<void> {
      refuseManyNames(source, () => taken.begin(batch));
      await writer.write(batch);
      taken.add(batch, position);
      found.add(missing);
    },
    /** Begins a segment: what was added so far stays. */
    async begin(): Promise<void> {
      const { lastPart, open, records, fields } = (await save(null)).checkpoint;
      checkpoint = { ...checkpoint, segment: { lastPart, open, records, fields } };
    },
    /**
     * Drops the records of the segment. Their parts stay in the work folder, and no checkpoint names them from the next
     * one on. Their numbers are not used again: a process that still takes the dropped records would otherwise replace
     * the entry of an equal part.
     */
    async restart(position: unknown): Promise<void> {
      await writer.discard();
      const start = checkpoint.segment ?? EMPTY;
      if (start.open !== null) await writer.resume(start.open);
      taken.restart(start, position);
      checkpoint = { ...checkpoint, lastPart: start.lastPart };
    },
  };
}

/**
 * Makes a function that hears where each checkpoint has the open part, and deletes what no one needs: not the one before
 * the last, since a process that read that checkpoint may be about to read it, nor the one that the segment began with.
 */
function createDeletion(store: Store, first: string | undefined) {
  const keys = first === undefined ? [] : [first];
  return async (key: string | undefined, segment: string | undefined): Promise<void> => {
    if (key !== undefined && !keys.includes(key)) keys.push(key);
    const replaced = keys.length > 2 ? keys.shift() : undefined;
    if (replaced !== undefined && replaced !== segment) await store.delete(replaced);
  };
}

/** A run at its beginning. */
const EMPTY = { lastPart: null, open: null, records: 0, fields: {} };

function refuseManyNames(place: Place, merge: () => void): void {
  try {
    merge();
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error;
    const source = sourceOf(place);
    const { operation } = sourceDefinitions[source];
    throw new PlatformError(
      { kind: 'shape', faults: [error.message] },
      { operation, about: source, attempts: 1 },
    );
  }
}

/** Calls of the function take turns. */
function inTurn<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const turn = last.then(() => work(input));
    last = turn.catch(() => undefined);
    return turn;
  };
}
