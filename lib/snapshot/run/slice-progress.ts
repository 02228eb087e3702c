import type { CallCounts } from '../../platform/index.ts';
import type { Store } from '../../store/index.ts';
import { workFolder } from '../keys.ts';
import type { Part } from '../manifest.ts';
import type { FieldTypes } from '../page/record-batch.ts';
import { countNames } from '../page/record-fields.ts';
import type { MissingId, ScanOutcome, ScanStep } from '../scan.ts';
import { type Checkpoint, recordPart, saveCheckpoint } from './checkpoint.ts';
import { createPartWriter, type PartWriterOptions } from './part-writer.ts';

export type Saved = { readonly checkpoint: Checkpoint; readonly etag: string };

export type ProgressOptions = Pick<PartWriterOptions, 'store' | 'mostLineBytes' | 'partBytes'> & {
  readonly callCounts: () => CallCounts;
  /** Called after each checkpoint is stored. Default: nothing is. */
  readonly onSaved?: (() => Promise<void>) | undefined;
};

/** What a slice has taken since its checkpoint, and how it becomes durable. */
export async function startProgress(
  saved: Saved,
  { store, callCounts, onSaved, ...limits }: ProgressOptions,
) {
  let { checkpoint, etag } = saved;
  const taken = createTaken(checkpoint);
  /** When the first record was added that is not durable. */
  let sinceMs: number | undefined;
  const [earlier, before] = [checkpoint.calls, callCounts()];
  const folder = workFolder(checkpoint.source, { id: checkpoint.run });
  const writer = createPartWriter({ store, compression: checkpoint.compression, folder, ...limits });
  if (checkpoint.open !== null) await writer.resume(checkpoint.open);
  const deleteReplaced = createDeletion(store, checkpoint.open?.key);

  async function record(part: Part): Promise<void> {
    const lastPart = await recordPart(store, part, checkpoint.lastPart);
    checkpoint = { ...checkpoint, lastPart, parts: checkpoint.parts + 1 };
  }

  /** Makes the added records durable, and moves the checkpoint past them. */
  const save = inTurn(async (outcome: ScanOutcome | null): Promise<Saved> => {
    if (outcome !== null) await writer.end();
    while (await writer.storeEnded(checkpoint.parts, record));
    const facts = { ...taken.facts(), calls: callsOf(earlier, callCounts(), before) };
    const open = await writer.storeOpen();
    checkpoint = { ...checkpoint, ...facts, open, outcome };
    etag = await saveCheckpoint(store, checkpoint, etag);
    sinceMs = undefined;
    await Promise.all([onSaved?.(), deleteReplaced(open?.key, checkpoint.segment?.open?.key)]);
    return { checkpoint, etag };
  });
  return {
    save,
    records: taken.records,
    hasEnded: writer.hasEnded,
    /** Milliseconds since the first record that is not durable was added; 0 if all are. */
    unsavedMs: () => (sinceMs === undefined ? 0 : performance.now() - sinceMs),
    async add(step: ScanStep<unknown>): Promise<void> {
      sinceMs ??= performance.now();
      await writer.write(step.batch);
      taken.add(step);
    },
    /** Begins a segment: what was added so far stays. */
    async begin(): Promise<void> {
      const { lastPart, open, records, fields } = (await save(null)).checkpoint;
      checkpoint = { ...checkpoint, segment: { lastPart, open, records, fields } };
    },
    /**
     * Drops the records of the segment. The numbers of their parts are not used again: a process that still takes them
     * would otherwise replace the entry of an equal part.
     */
    async restart(step: Pick<ScanStep<unknown>, 'position' | 'missing'>): Promise<void> {
      await writer.discard();
      const { lastPart, open, ...end } = checkpoint.segment ?? EMPTY;
      if (open !== null) await writer.resume(open);
      taken.restart(step, end);
      sinceMs = undefined;
      checkpoint = { ...checkpoint, lastPart };
    },
  };
}

/** What the steps of a scan have brought. Missing ids are added in place: copying them at each step took gigabytes. */
function createTaken({ missing: before, ...checkpoint }: Checkpoint) {
  let { position, records, fields } = checkpoint;
  const missing = new Map(before.map((each) => [each.id, each]));
  const addMissing = (ids: readonly MissingId[]) => {
    for (const each of ids) missing.set(each.id, each);
  };
  return {
    records: () => records,
    facts: () => ({ position, records, fields, missing: [...missing.values()] }),
    add(step: ScanStep<unknown>): void {
      position = step.position;
      records += step.batch.records;
      fields = withTypes(fields, step.batch.fields);
      addMissing(step.missing ?? []);
      // An overlapping page has the same again.
      addMissing((step.batch.unnamed ?? []).map((id) => ({ id, status: 200 })));
    },
    restart(
      step: Pick<ScanStep<unknown>, 'position' | 'missing'>,
      end: Pick<Checkpoint, 'records' | 'fields'>,
    ): void {
      position = step.position;
      records = end.records;
      fields = end.fields;
      addMissing(step.missing ?? []);
    },
  };
}

/** The types of fields with more of them, sorted by name and type. */
function withTypes(fields: FieldTypes, more: FieldTypes): FieldTypes {
  const types = new Map(Object.entries(fields));
  for (const [name, seen] of Object.entries(more))
    types.set(name, [...new Set([...(types.get(name) ?? []), ...seen])].sort());
  types.keys().forEach(countNames('a run'));
  return Object.fromEntries([...types].sort());
}

/** Deletes replaced open parts: not the one before the last, which may still be read, nor the one the segment began with. */
function createDeletion(store: Store, first: string | undefined) {
  const keys = first === undefined ? [] : [first];
  return async (key: string | undefined, segment: string | undefined): Promise<void> => {
    if (key !== undefined && !keys.includes(key)) keys.push(key);
    const replaced = keys.length > 2 ? keys.shift() : undefined;
    if (replaced !== undefined && replaced !== segment) await store.delete(replaced);
  };
}

const EMPTY = { lastPart: null, open: null, records: 0, fields: {} };

/** The calls of a run: those of earlier processes plus those that this one has made since. */
const callsOf = (earlier: CallCounts, now: CallCounts, before: CallCounts): CallCounts => ({
  requests: earlier.requests + now.requests - before.requests,
  retries: earlier.retries + now.retries - before.retries,
  throttled: earlier.throttled + now.throttled - before.throttled,
  waitedMs: earlier.waitedMs + now.waitedMs - before.waitedMs,
});

/** Calls of the function take turns. */
function inTurn<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const turn = last.then(() => work(input));
    last = turn.catch(() => undefined);
    return turn;
  };
}
