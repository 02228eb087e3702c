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
  /** The most bytes of a record's line. Default: `MOST_LINE_BYTES`. */
  readonly mostLineBytes?: number | undefined;
};

/** What a slice has taken since its checkpoint, and how it becomes durable. */
export function startProgress(saved: Saved, { store, callCounts, mostLineBytes }: ProgressOptions) {
  let { checkpoint, etag } = saved;
  const { source, run, compression } = checkpoint;
  const taken = countTaken(checkpoint, callCounts);
  const folder = workFolder(source, { id: run });
  const writer = createPartWriter({ store, compression, folder, mostLineBytes });
  /** A part that is stored but not recorded: recording it may have failed, and its records are in no other part. */
  let stored: Part | undefined;
  const found = collectMissing(store, folder, checkpoint.missing);
  let hasFailed = false;
  /** Makes the added records a durable part, and moves the checkpoint past it. */
  const save = inTurn(async (outcome: ScanOutcome | null): Promise<Saved> => {
    hasFailed = true;
    stored ??= await writer.close(checkpoint.parts);
    const { lastPart, parts } = checkpoint;
    const recorded = stored && { lastPart: await recordPart(store, stored, lastPart), parts: parts + 1 };
    const facts = { ...taken.facts(), missing: await found.store() };
    checkpoint = { ...checkpoint, ...recorded, ...facts, outcome: outcome && copyOf(outcome) };
    stored = undefined;
    etag = await saveCheckpoint(store, checkpoint, etag);
    hasFailed = false;
    taken.isDurable();
    return { checkpoint, etag };
  });
  return {
    save,
    records: taken.records,
    compressedBytes: writer.compressedBytes,
    /** Milliseconds since the first record that is not durable was added; 0 if all are. */
    unsavedMs: taken.unsavedMs,
    /**
     * Adds the records and missing ids of a step, and the position after them. Throws `PlatformError` if the records of
     * the run have more names of fields than it can hold.
     */
    async add({ batch, position, missing = [] }: ScanStep<unknown>): Promise<void> {
      // A part that was closed takes no more records: it must be durable first.
      if (hasFailed) await save(null);
      refuseManyNames(source, () => taken.begin(batch));
      await writer.write(batch);
      taken.add(batch, position);
      found.add(missing);
    },
    /** Begins a segment: what was added so far stays, and ends its part. */
    async begin(): Promise<void> {
      const { lastPart, records, fields } = (await save(null)).checkpoint;
      checkpoint = { ...checkpoint, segment: { lastPart, records, fields } };
    },
    /**
     * Drops the records of the segment. Their parts stay in the work folder, and no checkpoint names them from the next
     * one on. Their numbers are not used again: a process that still takes the dropped records would otherwise replace
     * the entry of an equal part.
     */
    async restart(position: unknown): Promise<void> {
      await writer.discard();
      [stored, hasFailed] = [undefined, false];
      const start = checkpoint.segment ?? EMPTY;
      taken.restart(start, position);
      checkpoint = { ...checkpoint, lastPart: start.lastPart };
    },
  };
}

/** A run at its beginning. */
const EMPTY = { lastPart: null, records: 0, fields: {} };

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

const copyOf = (outcome: ScanOutcome) => ({
  ...outcome,
  assumes: [...outcome.assumes],
  refused: [...outcome.refused],
});
