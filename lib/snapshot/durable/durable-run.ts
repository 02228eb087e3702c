import type { PaceCounts } from '../../pace/pace.ts';
import type { Call } from '../../platform/call.ts';
import type { CallCounts } from '../../platform/events.ts';
import type { Store } from '../../store/store.ts';
import { type Compression, type Place, placeOf } from '../keys.ts';
import type { Partitions } from '../publish/partitions.ts';
import type { Publication } from '../publish/publish.ts';
import { beginRun } from '../run/begin-run.ts';
import { type Checkpoint, readCheckpoint } from '../run/checkpoint.ts';
import { scanOfRun } from '../run/scan-of-run.ts';
import { SnapshotStoppedError } from '../run/snapshot-stopped-error.ts';
import { publishTaken } from '../run/take-run.ts';
import { takeSlice } from '../run/take-slice.ts';
import type { SnapshotRequest } from '../sources/request.ts';
import { type Brought, type DurableSteps, stepAndPause } from './durable-steps.ts';

/** What a durable run works with. Times in milliseconds. */
export type DurableRunOptions = {
  /** Its patience is short: what takes longer to pass is waited for between steps. */
  readonly call: Call;
  readonly store: Store;
  readonly compression: Compression;
  /** The platform's host, as manifests name it. */
  readonly host: string;
  readonly callCounts: () => CallCounts;
  /** What the pace has granted this process so far. Default: manifests do not tell. */
  readonly paceCounts?: () => PaceCounts;
  /** Where tables stand over the published runs. Default: nowhere. */
  readonly partitions?: Partitions | undefined;
  /** Told of each run that ended, at least once. */
  readonly onEnded?: (ended: EndedRun) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** How long a slice goes on; it ends with the page in hand. Default 3 minutes. */
  readonly sliceMs?: number;
  /** What the page in hand, its part and the checkpoint may take after that. Default 3 minutes. */
  readonly marginMs?: number;
  /** What publishing may take: it copies, and compares with the run before. Default 10 minutes. */
  readonly publishMs?: number;
  /** Compressed size at which a part is closed. */
  readonly partBytes?: number;
  /** Rows a page of calculations asks for. */
  readonly pageRows?: number;
};

/** How a durable run ended: small, whatever it holds. */
export type EndedRun = {
  readonly kind: Publication['kind'];
  readonly place: Place;
  readonly run: string;
  readonly records: number;
  readonly refused: readonly string[];
};

/** How far a run has come, as a step answers it. */
type Stage = {
  readonly run: string;
  readonly records: number;
  readonly parts: number;
  readonly hasEnded: boolean;
};

/** Milliseconds, unless the options say otherwise. A slice and its margin fit twice into an invocation of 15 minutes. */
const TIMES = { sliceMs: 180_000, marginMs: 180_000, publishMs: 600_000 } as const;

/** Left of an invocation when a slice that hangs is cut: its part and the checkpoint are stored in that time. */
const TO_SAVE_MS = 15_000;

/**
 * Takes a run as a durable execution: its beginning, each slice and its publication are a step each. The run's progress
 * is the checkpoint in the store, and a step's answer only tells of it. So a step that is done again, because it failed,
 * ran out of time or its answer was lost, goes on from the last durable part: nothing is taken twice, since a checkpoint
 * is only ever put in the place of the one it was made from, together with the position behind its parts; a part that
 * no checkpoint tells of is in no manifest. A repeated beginning leaves a run that nobody goes on with.
 *
 * Throws `SnapshotStoppedError` for what will not pass; the run is kept, and `--resume` can go on with it.
 */
export async function takeDurableRun(
  request: SnapshotRequest,
  steps: DurableSteps,
  options: DurableRunOptions,
): Promise<EndedRun> {
  const place = placeOf(request.source, request.as);
  let run = '';
  try {
    ({ run } = await stepAndPause(steps, `begin-${place}`, async () => {
      const { checkpoint } = await beginRun(request, options);
      return { value: { place, run: checkpoint.run }, nextNeedsMs: timesOf(options).sliceNeedsMs };
    }));
    for (let slice = 1, hasEnded = false; !hasEnded; slice += 1) {
      ({ hasEnded } = await stepAndPause(steps, `slice-${slice}-${place}`, () =>
        takeNextSlice(place, run, steps, options),
      ));
    }
    return await stepAndPause(steps, `publish-${place}`, () => publish(request, run, options));
  } catch (error) {
    const what = run === '' ? `${place} was not begun` : `run ${run} of ${place} was stopped`;
    const why = error instanceof Error ? error.message : String(error);
    throw new SnapshotStoppedError(place, run, new Error(`${what}: ${why}`, { cause: error }));
  }
}

const timesOf = ({
  sliceMs = TIMES.sliceMs,
  marginMs = TIMES.marginMs,
  publishMs = TIMES.publishMs,
}: DurableRunOptions) => ({ sliceMs, publishMs, sliceNeedsMs: sliceMs + marginMs });

/** Takes one slice from wherever the store says that the run has come to, and tells how far that is now. */
async function takeNextSlice(
  place: Place,
  run: string,
  { remainingMs }: DurableSteps,
  options: DurableRunOptions,
): Promise<Brought<Stage>> {
  const { store, now } = options;
  const { sliceMs, sliceNeedsMs, publishMs } = timesOf(options);
  const saved = await readCheckpoint(store, place, run);
  // It is told to have ended already where the answer of the step that ended it was lost.
  if (saved.checkpoint.outcome !== null) return { value: stageOf(saved.checkpoint), nextNeedsMs: publishMs };
  const overAtMs = now() + sliceMs;
  const cut = AbortSignal.timeout(Math.max(1, remainingMs() - TO_SAVE_MS));
  const taken = await takeSlice(saved, {
    ...options,
    scan: await scanOfRun(saved.checkpoint, options),
    isOver: () => now() >= overAtMs,
    signal: cut,
  }).catch(async (error: unknown) => {
    if (!cut.aborted) throw error;
    const kept = await readCheckpoint(store, place, run);
    // Without a page in all that time the platform hangs: that is a failure, for which there is a longer wait.
    if (kept.etag === saved.etag) throw error;
    return kept;
  });
  const stage = stageOf(taken.checkpoint);
  return { value: stage, nextNeedsMs: stage.hasEnded ? publishMs : sliceNeedsMs };
}

const stageOf = ({ run, records, parts, outcome }: Checkpoint): Stage => ({
  run,
  records,
  parts,
  hasEnded: outcome !== null,
});

async function publish(
  { source, as, accept }: SnapshotRequest,
  run: string,
  options: DurableRunOptions,
): Promise<Brought<EndedRun>> {
  const place = placeOf(source, as);
  const { checkpoint } = await readCheckpoint(options.store, place, run);
  const { kind, manifest } = await publishTaken(checkpoint, {
    ...options,
    platform: options.host,
    force: false,
    accept,
  });
  const { records, refused } = manifest;
  const ended = { kind, place, run, records, refused };
  options.onEnded?.(ended);
  return { value: ended, nextNeedsMs: timesOf(options).sliceNeedsMs };
}
