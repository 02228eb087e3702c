import { backoffMs } from '../../../base/index.ts';
import { PlatformError } from '../../../platform/index.ts';
import type { ScoreJob } from '../../types/score/message.ts';
import { createFailures } from '../scoring/failures.ts';
import type { ScoreTextsOptions } from '../scoring/run.ts';
import { createTextGate } from '../scoring/text-gate.ts';
import { type Checked, checkBatch, type Refusal } from './check-batch.ts';
import type { BatchRequest } from './chunks.ts';
import { failChunk } from './end-chunk.ts';
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
 * sent. Scoring the same batch again resumes where it stopped. A failure that different texts share is thrown once the
 * chunks in progress have ended; so is the caller's abort. A text that fails alone fails its row, and stops nothing.
 */
export async function scoreFile(request: BatchRequest, options: ScoreFileOptions): Promise<ScoredFile> {
  const checked: Checked = await checkBatch(request, options);
  if (checked.kind === 'refused') return checked;
  let rowsScored = 0;
  const gate = options.gate ?? createTextGate();
  const failures = options.failures ?? createFailures();
  const score = async (message: ScoreJob) => {
    await scoreInTime(message, { ...options, gate, failures });
    rowsScored += message.texts.length;
    options.progress?.({ rowsScored, rows: checked.rows });
  };
  const send = (messages: readonly ScoreJob[]) =>
    eachOf(messages, score, options.chunksAtOnce ?? CHUNKS_AT_ONCE);
  const hadEnded = ({ scored }: { readonly scored: number }) => {
    if (scored > 0) failures.hasScored();
  };
  const { summary, chunks } = await splitChecked(request, { ...options, send, hadEnded });
  if (summary === undefined)
    throw new Error(
      `batch ${request.batch}: expected all ${chunks} chunks to have ended, but some are still open`,
    );
  return { kind: 'scored', summary };
}

/** How often a chunk is tried whose last texts fail for reasons that are not their own, and the pauses between. */
const MOST_TRIES = 3;
const PAUSE = { baseDelayMs: 4_000, maxDelayMs: 60_000 };

/** Scores a chunk, however long it waits for its turn or for other workers: there is no queue to return it to. */
async function scoreInTime(message: ScoreJob, options: ScoreFileOptions): Promise<void> {
  let hasSucceeded = false;
  for (let tries = 1; ; ) {
    const scored = await scoreChunk(message, options);
    switch (scored.kind) {
      case 'scored':
        return;
      case 'later':
        await options.sleep(scored.delayMs, options.signal);
        break;
      case 'stopped': {
        const { error, alike, progress } = scored;
        hasSucceeded ||= progress > 0;
        if (alike || !(error instanceof PlatformError)) throw error;
        if (tries < MOST_TRIES) {
          await options.sleep(backoffMs(tries, options.random(), PAUSE), options.signal);
          tries += 1;
          break;
        }
        // Other texts succeeded meanwhile, and these were sent each time: it is the texts after all.
        if (!hasSucceeded || !error.sent) throw error;
        await failRest(message, error, options);
        return;
      }
      default:
        scored satisfies never;
    }
  }
}

/** Ends a chunk whose remaining texts fail each time. */
async function failRest({ id, batch, chunk }: ScoreJob, { message }: Error, options: ScoreFileOptions) {
  if (batch === undefined || chunk === undefined) return;
  await failChunk({ batch, chunk }, { error: message, payer: id }, options);
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
