import { PlatformError } from '../../../platform/platform-error.ts';
import type { ScoreJob } from '../../types/score/message.ts';
import type { ScoreTextsOptions } from '../scoring/score-texts-options.ts';
import type { BatchRequest } from './batch-request.ts';
import type { Refusal } from './check-batch.ts';
import { type Checked, checkBatch } from './check-batch.ts';
import type { Summary } from './finish-batch.ts';
import { scoreChunk } from './score-chunk.ts';
import { type SplitOptions, splitChecked } from './split-batch.ts';

/** Progress of a file; `rowsScored` counts this run only, `rows` the whole file. */
type ScoreProgress = {
  readonly rowsScored: number;
  readonly rows: number;
};

export type ScoreFileOptions = Omit<SplitOptions, 'send'> &
  ScoreTextsOptions & {
    /** Chunks that are scored at once. Default 2: the second one runs while the last results of the first arrive. */
    readonly chunksAtOnce?: number | undefined;
    readonly progress?: ((progress: ScoreProgress) => void) | undefined;
  };

export type ScoredFile = { readonly kind: 'scored'; readonly summary: Summary } | Refusal;

const CHUNKS_AT_ONCE = 2;

/**
 * Scores a batch in this process: it is split as for the queue, but each chunk is scored when its message would be
 * sent. Scoring the same batch again resumes where it stopped. A failure that may pass but outlasts the retries is
 * thrown once the chunks in progress have ended; so is the caller's abort.
 */
export async function scoreFile(request: BatchRequest, options: ScoreFileOptions): Promise<ScoredFile> {
  const checked: Checked = await checkBatch(request, options);
  if (checked.kind === 'refused') return checked;
  let rowsScored = 0;
  const score = async (message: ScoreJob) => {
    await scoreInTime(message, options);
    rowsScored += message.texts.length;
    options.progress?.({ rowsScored, rows: checked.rows });
  };
  const send = (messages: readonly ScoreJob[]) =>
    eachOf(messages, score, options.chunksAtOnce ?? CHUNKS_AT_ONCE);
  const { summary, chunks } = await splitChecked(request, { ...options, send });
  if (summary === undefined)
    throw new Error(
      `batch ${request.batch}: expected all ${chunks} chunks to have ended, but some are still open`,
    );
  return { kind: 'scored', summary };
}

/** Scores a chunk, however long it waits for its turn or for other workers: there is no queue to return it to. */
async function scoreInTime(message: ScoreJob, options: ScoreFileOptions): Promise<void> {
  for (;;) {
    const delayMs = await scoreChunk(message, options).then(
      (scored) => (scored.kind === 'later' ? scored.delayMs : undefined),
      (error: unknown) => {
        if (error instanceof PlatformError && error.failure.kind === 'wait') return error.failure.waitMs;
        throw error;
      },
    );
    if (delayMs === undefined) return;
    await options.sleep(delayMs, options.signal);
  }
}

/** Acts on all items, `atOnce` at a time. After a failure no further one starts; it is thrown once the others end. */
async function eachOf<T>(
  items: readonly T[],
  act: (item: T) => Promise<void>,
  atOnce: number,
): Promise<void> {
  const rest = [...items];
  let hasFailed = false;
  const work = async () => {
    for (let item = rest.shift(); item !== undefined && !hasFailed; item = rest.shift()) {
      await act(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const workers = Array.from({ length: atOnce }, work);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}
