import type { PaceCounts } from '../../pace/index.ts';
import { type FinishedRun, type Publication, publishRun } from '../publish/publish.ts';
import { readLastPublication } from '../publish/publish-parts.ts';
import { createRun } from '../run-id.ts';
import { checkPlatform } from '../same-platform.ts';
import type { GateName, Scan } from '../scan.ts';
import { type Checkpoint, readParts, saveCheckpoint } from './checkpoint.ts';
import { SnapshotStoppedError } from './snapshot-stopped-error.ts';
import { type Saved, type SliceOptions, takeSlice } from './take-slice.ts';

export type SnapshotOptions = Omit<SliceOptions, 'scan' | 'isOver' | 'mostLineBytes'> & {
  readonly platform: string;
  /** What the pace has granted this process so far. Default: not in the manifest. */
  readonly paceCounts?: (() => PaceCounts) | undefined;
  /** Publish although a gate refused. */
  readonly force: boolean;
  /** Reasons that do not refuse this run; all others do. Default: none. */
  readonly accept?: readonly GateName[] | undefined;
  /** Called once everything has been read, before it is published. */
  readonly onRead?: (() => void) | undefined;
  readonly now: () => number;
  readonly random: () => number;
};

export type NewRun = Pick<Checkpoint, 'source' | 'compression' | 'selection' | 'platform' | 'idsFrom'> &
  /** Ids that are known to be missing, and are not asked for. Default: none. */
  Partial<Pick<Checkpoint, 'missing'>>;

/** Names a run and stores its first checkpoint. */
export async function startRun(
  { source, compression, selection, platform, idsFrom, missing = [] }: NewRun,
  { store, now, random }: Pick<SnapshotOptions, 'store' | 'now' | 'random'>,
): Promise<Saved> {
  // Before the run has a start: whatever it begins after started earlier, however long this takes. What is damaged is
  // reported when the run is published.
  const { etag, latest } = await readLastPublication(store, source);
  const begunAfter = latest?.run ?? (etag === undefined ? null : '');
  const run = createRun(now(), random);
  const checkpoint: Checkpoint = {
    version: 1,
    source,
    run: run.id,
    startedAt: run.startedAt,
    platform,
    begunAfter,
    selection: { ...selection },
    ...(idsFrom === undefined ? {} : { idsFrom }),
    compression,
    position: null,
    outcome: null,
    parts: 0,
    lastPart: null,
    open: null,
    missing,
    records: 0,
    fields: {},
    calls: { requests: 0, retries: 0, throttled: 0, waitedMs: 0 },
  };
  return { checkpoint, etag: await saveCheckpoint(store, checkpoint, undefined) };
}

/** Takes a run to its end and publishes it unless a gate refuses. Throws `SnapshotStoppedError` around what stopped it. */
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

/** Publishes a run whose scan has finished, unless a gate refuses. Throws if the scan has not finished. */
export async function publishTaken(
  checkpoint: Checkpoint,
  options: Pick<SnapshotOptions, 'store' | 'now' | 'force' | 'accept' | 'paceCounts' | 'signal'>,
): Promise<Publication> {
  const { store, force, accept, now, signal } = options;
  const { source, startedAt } = checkpoint;
  const run = { id: checkpoint.run, startedAt };
  const finished = await finishedRun(checkpoint, options);
  return publishRun({ store, source, run, finished, force, accept, now, signal });
}

async function finishedRun(
  checkpoint: Checkpoint,
  { store, now, paceCounts }: Pick<SnapshotOptions, 'store' | 'now' | 'paceCounts'>,
): Promise<FinishedRun> {
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
