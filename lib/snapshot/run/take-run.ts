import { errorText } from '../../base/index.ts';
import type { PaceCounts } from '../../pace/index.ts';
import type { CallCounts } from '../../platform/index.ts';
import type { Store } from '../../store/index.ts';
import { runKeys } from '../changes/line-members.ts';
import { sourceOf, workFolder } from '../keys.ts';
import type { Part } from '../manifest.ts';
import { countNames, type typesSeen } from '../page/record-fields.ts';
import { checkPlatform, type Gates } from '../publish/gates.ts';
import { type Publication, publishRun, type readFinishedRun } from '../publish/publish.ts';
import type { GateName, MissingId, Scan, ScanOutcome, ScanStep } from '../scan.ts';
import { type Checkpoint, readParts, recordPart, saveCheckpoint } from './checkpoint.ts';
import { createPartWriter } from './part-writer.ts';
import { SnapshotStoppedError } from './snapshot-stopped-error.ts';

type FieldTypes = ReturnType<typeof typesSeen>;

/** How to take a run, and whether to publish it. */
export type SnapshotOptions = Omit<SliceOptions, 'scan' | 'isOver' | 'maxLineBytes'> & {
  readonly platform: string;
  /**
   * Counts what the pace has granted this process so far, for the manifest. Default: the manifest has no such counts.
   */
  readonly paceCounts?: (() => PaceCounts) | undefined;
  /** Whether to publish the run even if a gate refuses it. */
  readonly force: boolean;
  /** The gates that this run may fail and still be published. Default: none. */
  readonly accept?: readonly GateName[] | undefined;
  /** The setting SYNC_GATES. Default: every place has the default gates. */
  readonly gates?: Gates | undefined;
  /** Called after all records have been read, before the run is published. */
  readonly onRead?: (() => void) | undefined;
  readonly now: () => number;
  readonly random: () => number;
};

/**
 * Takes the rest of a run, and publishes it unless a gate refuses it. Throws `SnapshotStoppedError`, with the error
 * that stopped the run as its cause.
 */
export async function takeRun(
  started: Saved,
  scan: Scan<unknown>,
  options: SnapshotOptions,
): Promise<Publication> {
  const { source, run } = started.checkpoint;
  try {
    checkPlatform(started.checkpoint, options.platform);
    const { checkpoint } =
      started.checkpoint.outcome === null ? await takeSlice(started, { ...options, scan }) : started;
    options.onRead?.();
    return await publishTaken(checkpoint, options);
  } catch (error) {
    throw new SnapshotStoppedError(source, run, error);
  }
}

/** Publishes a run whose scan has finished, unless a gate refuses it. Throws if the scan has not finished. */
export async function publishTaken(
  checkpoint: Checkpoint,
  options: Pick<SnapshotOptions, 'store' | 'now' | 'force' | 'accept' | 'gates' | 'paceCounts' | 'signal'>,
): Promise<Publication> {
  const { store, force, accept, gates, now, signal } = options;
  const { source, startedAt } = checkpoint;
  const run = { id: checkpoint.run, startedAt };
  const finished = await finishedRun(checkpoint, options);
  return publishRun({ store, source, run, finished, force, accept, gates, now, signal });
}

async function finishedRun(
  checkpoint: Checkpoint,
  { store, now, paceCounts }: Pick<SnapshotOptions, 'store' | 'now' | 'paceCounts'>,
): ReturnType<typeof readFinishedRun> {
  const {
    outcome,
    position: _position,
    lastPart,
    open: _open,
    parts: _count,
    compression: _compression,
    segment: _segment,
    ...facts
  } = checkpoint;
  if (outcome === null) throw new Error(`run ${checkpoint.run} has not finished`);
  const { refused: scanRefused, assumes, passes = 1, ...found } = outcome;
  return {
    ...facts,
    finishedAt: new Date(now()).toISOString(),
    ...(paceCounts === undefined ? {} : { pace: paceCounts() }),
    ...found,
    assumes: [...assumes],
    passes,
    parts: await readParts(store, lastPart),
    scanRefused,
  };
}

type SliceOptions = ProgressOptions & {
  readonly scan: Scan<unknown>;
  /** Maximum milliseconds until an added record is durable, even if the next page takes longer. Default 30 s. */
  readonly partMs?: number | undefined;
  /** Called after each step of the scan. If it returns true, the slice ends. Default: always false. */
  readonly isOver?: () => boolean;
  readonly onProgress?: ((progress: SnapshotProgress) => void) | undefined;
  /** An abort ends the scan; the records read so far are saved. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * What is known of a running scan. `total` may be wrong, and is null if unknown; `share`: how much is done, from 0 to
 * 1.
 */
export type SnapshotProgress = {
  readonly records: number;
  readonly total: number | null;
  readonly share?: number | undefined;
};

const DEFAULT_PART_MS = 30_000;

/**
 * Takes a slice of a run: scans from the checkpoint until the scan or the slice ends, or something fails. In each case,
 * all records read so far are made durable.
 */
export async function takeSlice(saved: Saved, options: SliceOptions): Promise<Saved> {
  const { scan, signal, partMs = DEFAULT_PART_MS, isOver = () => false, onProgress } = options;
  const progress = await startProgress(saved, options);
  const readBackKeys = async function* readBackKeys() {
    const { source, lastPart, open, segment } = (await progress.save(null)).checkpoint;
    const parts = await readParts(options.store, lastPart, segment?.lastPart);
    const run = { parts: open === null ? parts : [...parts, open] };
    // The records that the open part had before the segment began do not belong to the segment.
    let before = segment?.open?.records ?? 0;
    for await (const keys of runKeys({ store: options.store, source: sourceOf(source), run, signal })) {
      yield keys.slice(before);
      before = Math.max(0, before - keys.length);
    }
  };
  try {
    const steps = scan({ from: saved.checkpoint.position ?? undefined, signal, readBackKeys });
    for (;;) {
      const step = await withWorkAfter(steps.next(), partMs - progress.unsavedMs(), async () => {
        if (progress.unsavedMs() > 0) await progress.save(null);
      });
      if (step.done) return await progress.save(step.value);
      const { segment } = step.value;
      if (segment === 'begins') await progress.begin();
      if (segment === 'restarts') await progress.restart(step.value);
      else await progress.add(step.value);
      const { total, share } = step.value;
      onProgress?.({ records: progress.records(), total, share });
      const ends = isOver();
      if (!ends && !progress.hasEnded() && progress.unsavedMs() < partMs) continue;
      const now = await progress.save(null);
      if (ends) {
        await steps.return(undefined as never);
        return now;
      }
    }
  } catch (error) {
    try {
      await progress.save(null);
    } catch (unsaved) {
      if (unsaved === error) throw error;
      const messages = [errorText(error), `(and the checkpoint was not saved: ${errorText(unsaved)})`];
      // If the store is full or unavailable, both errors have the same message.
      const isSame = errorText(error) === errorText(unsaved);
      throw new AggregateError([error, unsaved], isSame ? messages[0] : messages.join(' '));
    }
    throw error;
  }
}

/**
 * Awaits a promise. If that takes longer than `afterMs`, also runs `work`, once, and awaits it. A failure of `work` is
 * ignored, since the caller tries again.
 */
async function withWorkAfter<T>(
  awaited: Promise<T>,
  afterMs: number,
  work: () => Promise<unknown>,
): Promise<T> {
  let working: Promise<unknown> = Promise.resolve();
  const timer = setTimeout(() => {
    working = work().catch(() => undefined);
  }, afterMs);
  try {
    return await awaited;
  } finally {
    clearTimeout(timer);
    await working;
  }
}

/** A run whose checkpoint is stored. `etag`: the etag of the checkpoint. */
export type Saved = { readonly checkpoint: Checkpoint; readonly etag: string };

type ProgressOptions = Pick<
  Parameters<typeof createPartWriter>[0],
  'store' | 'maxLineBytes' | 'partBytes'
> & {
  readonly callCounts: () => CallCounts;
  /** Called after each checkpoint is stored. Default: not called. */
  readonly onSaved?: (() => Promise<void>) | undefined;
};

/** Collects what a slice reads after its checkpoint, and makes it durable. */
async function startProgress(saved: Saved, { store, callCounts, onSaved, ...limits }: ProgressOptions) {
  let { checkpoint, etag } = saved;
  const collector = createCollector(checkpoint);
  /**
   * When the first of the records that are not durable yet was added (`performance.now`); undefined if all are durable.
   */
  let sinceMs: number | undefined;
  const callsSoFar = createCallCount(checkpoint.calls, callCounts);
  const folder = workFolder(checkpoint.source, { id: checkpoint.run });
  const writer = createPartWriter({ store, compression: checkpoint.compression, folder, ...limits });
  if (checkpoint.open !== null) await writer.resume(checkpoint.open);
  const deleteReplaced = createDeletion(store, checkpoint.open?.key);

  async function record(part: Part): Promise<void> {
    const lastPart = await recordPart(store, part, checkpoint.lastPart);
    checkpoint = { ...checkpoint, lastPart, parts: checkpoint.parts + 1 };
  }

  /**
   * Makes the added records durable, then stores a checkpoint that includes them. `outcome`: set if the scan has ended.
   */
  const save = inTurn(async (outcome: ScanOutcome | null): Promise<Saved> => {
    if (outcome !== null) await writer.end();
    while (await writer.storeEnded(checkpoint.parts, record));
    const facts = { ...collector.facts(), calls: callsSoFar() };
    const open = await writer.storeOpen();
    checkpoint = { ...checkpoint, ...facts, open, outcome };
    etag = await saveCheckpoint(store, checkpoint, etag);
    sinceMs = undefined;
    await Promise.all([onSaved?.(), deleteReplaced(open?.key, checkpoint.segment?.open?.key)]);
    return { checkpoint, etag };
  });
  return {
    save,
    records: collector.records,
    hasEnded: writer.hasEnded,
    /** Milliseconds since the first record that is not durable yet was added; 0 if all are durable. */
    unsavedMs: () => (sinceMs === undefined ? 0 : performance.now() - sinceMs),
    async add(step: ScanStep<unknown>): Promise<void> {
      sinceMs ??= performance.now();
      await writer.write(step.batch);
      collector.add(step);
    },
    /** Begins a segment: the records that were added before it stay, even if the segment restarts. */
    async begin(): Promise<void> {
      const { lastPart, open, records, fields } = (await save(null)).checkpoint;
      checkpoint = { ...checkpoint, segment: { lastPart, open, records, fields } };
    },
    /**
     * Drops the records of the segment. The numbers of their parts are not used again: a process that is still taking
     * the dropped segment would otherwise replace the entry of a new part with the same number.
     */
    async restart(step: Pick<ScanStep<unknown>, 'position' | 'missing'>): Promise<void> {
      await writer.discard();
      const { lastPart, open, ...end } = checkpoint.segment ?? EMPTY;
      if (open !== null) await writer.resume(open);
      collector.restart(step, end);
      sinceMs = undefined;
      checkpoint = { ...checkpoint, lastPart };
    },
  };
}

/**
 * Collects what the steps of a scan return. Missing ids are added to one map, because copying them at each step would
 * take gigabytes.
 */
function createCollector({ missing: before, ...checkpoint }: Checkpoint) {
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
      // A map, since pages may overlap and report the same ids again.
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

/** Merges the types of each field. The result is sorted by name and type. */
function withTypes(fields: FieldTypes, more: FieldTypes): FieldTypes {
  const types = new Map(Object.entries(fields));
  for (const [name, seen] of Object.entries(more))
    types.set(name, [...new Set([...(types.get(name) ?? []), ...seen])].sort());
  types.keys().forEach(countNames('a run'));
  return Object.fromEntries([...types].sort());
}

/**
 * Creates a function that deletes an open part after two newer ones have replaced it, since the previous one may still
 * be read. It keeps the open part with which the segment began (`segment`).
 */
function createDeletion(store: Store, first: string | undefined) {
  const keys = first === undefined ? [] : [first];
  return async (key: string | undefined, segment: string | undefined): Promise<void> => {
    if (key !== undefined && !keys.includes(key)) keys.push(key);
    const replaced = keys.length > 2 ? keys.shift() : undefined;
    if (replaced !== undefined && replaced !== segment) await store.delete(replaced);
  };
}

const EMPTY = { lastPart: null, open: null, records: 0, fields: {} };

/** Counts the calls of a run: the calls of earlier processes plus the calls of this process from now on. */
function createCallCount(earlier: CallCounts, callCounts: () => CallCounts): () => CallCounts {
  const before = callCounts();
  return () => {
    const now = callCounts();
    return {
      requests: earlier.requests + now.requests - before.requests,
      retries: earlier.retries + now.retries - before.retries,
      throttled: earlier.throttled + now.throttled - before.throttled,
      waitedMs: earlier.waitedMs + now.waitedMs - before.waitedMs,
    };
  };
}

/** Wraps a function so that its calls run one after another. */
function inTurn<In, Out>(work: (input: In) => Promise<Out>): (input: In) => Promise<Out> {
  let last: Promise<unknown> = Promise.resolve();
  return (input) => {
    const turn = last.then(() => work(input));
    last = turn.catch(() => undefined);
    return turn;
  };
}
