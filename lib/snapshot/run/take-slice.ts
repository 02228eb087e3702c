import { errorText } from '../../base/index.ts';
import { runKeys } from '../changes/run-keys.ts';
import { sourceOf } from '../keys.ts';
import type { Scan } from '../scan.ts';
import { readParts } from './checkpoint.ts';
import { type ProgressOptions, type Saved, startProgress } from './slice-progress.ts';

export type SliceOptions = ProgressOptions & {
  readonly scan: Scan<unknown>;
  /** Records are durable at most so many milliseconds after they were added, even while a page is awaited. Default 30 s. */
  readonly partMs?: number | undefined;
  /** Called after each step of the scan: true ends the slice. Default: always false. */
  readonly isOver?: () => boolean;
  readonly onProgress?: ((progress: SnapshotProgress) => void) | undefined;
  /** Ends the scan; what has been read by then is saved. */
  readonly signal?: AbortSignal | undefined;
};

export type SnapshotProgress = {
  readonly records: number;
  readonly total: number | null;
  readonly share?: number | undefined;
};

const PART_MS = 30_000;

/** Resumes a run until the scan or the slice ends, or something fails: what was read until then becomes durable first. */
export async function takeSlice(saved: Saved, options: SliceOptions): Promise<Saved> {
  const { scan, signal, partMs = PART_MS, isOver = () => false, onProgress } = options;
  const progress = await startProgress(saved, options);
  const takenKeys = async function* takenKeys() {
    const { source, lastPart, open, segment } = (await progress.save(null)).checkpoint;
    const parts = await readParts(options.store, lastPart, segment?.lastPart);
    const run = { parts: open === null ? parts : [...parts, open] };
    // What the open part held when the segment began is not of it.
    let before = segment?.open?.records ?? 0;
    for await (const keys of runKeys({ store: options.store, source: sourceOf(source), run, signal })) {
      yield keys.slice(before);
      before = Math.max(0, before - keys.length);
    }
  };
  try {
    const steps = scan({ from: saved.checkpoint.position ?? undefined, signal, takenKeys });
    for (;;) {
      const step = await meanwhile(steps.next(), partMs - progress.unsavedMs(), async () => {
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
      const words = [errorText(error), `(and the checkpoint was not saved: ${errorText(unsaved)})`];
      // What is full or away fails alike twice.
      const isSame = errorText(error) === errorText(unsaved);
      throw new AggregateError([error, unsaved], isSame ? words[0] : words.join(' '));
    }
    throw error;
  }
}

/** Awaits, and after `afterMs` does `work` once meanwhile, to its end. Its failure is dropped: the caller tries again. */
async function meanwhile<T>(awaited: Promise<T>, afterMs: number, work: () => Promise<unknown>): Promise<T> {
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
