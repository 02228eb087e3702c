import { backoffMs } from '../../../base/index.ts';
import { PlatformError } from '../../../platform/index.ts';
import { createFailures } from '../scoring/failures.ts';
import { type Analyze, createTextGate, mostWaitingAt, type ScoreTextsOptions } from '../scoring/run.ts';
import { checkBatch, type Refusal } from './check-batch.ts';
import type { ChunkJob } from './chunk-objects.ts';
import type { BatchRequest } from './chunks.ts';
import type { Summary } from './finish-batch.ts';
import { failChunk, scoreChunk } from './score-chunk.ts';
import { type SplitOptions, splitChecked } from './split-batch.ts';

/** Progress of a file; `rowsScored` counts this run only, `rows` the whole file. */
type ScoreProgress = { readonly rowsScored: number; readonly rows: number };

export type ScoreFileOptions = Omit<SplitOptions, 'send'> &
  ScoreTextsOptions & {
    /** Chunks that are scored at once. Default 2: the second one runs while the last results of the first arrive. */
    readonly chunksAtOnce?: number | undefined;
    readonly progress?: ((progress: ScoreProgress) => void) | undefined;
  };

export type ScoredFile = { readonly kind: 'scored'; readonly summary: Summary } | Refusal;

/**
 * Scores a batch in this process: each chunk is scored when its message would be sent. Scoring the same batch again
 * resumes where it stopped. A failure that different texts share is thrown once the chunks in progress have ended.
 */
export async function scoreFile(request: BatchRequest, options: ScoreFileOptions): Promise<ScoredFile> {
  const checked = await checkBatch(request, options);
  if (checked.kind === 'refused') return checked;
  const {
    gate = createTextGate(mostWaitingAt(options.rate)),
    failures = createFailures(),
    chunksAtOnce = 2,
    progress,
  } = options;
  let rowsScored = 0;
  const report = (rows: number) => {
    rowsScored += rows;
    progress?.({ rowsScored, rows: checked.rows });
  };
  const score = async (job: ChunkJob) => {
    // Each text as it is scored: a chunk of a slow platform takes minutes. Equal texts count when the chunk has ended.
    let inChunk = 0;
    const analyze: Analyze = async (...given) => {
      const sentiment = await options.analyze(...given);
      if (inChunk + 1 < job.texts.length) {
        inChunk += 1;
        report(1);
      }
      return sentiment;
    };
    await scoreInTime(job, { ...options, gate, failures, analyze });
    report(job.texts.length - inChunk);
  };
  const { summary, chunks } = await splitChecked(request, {
    ...options,
    send: (jobs) => eachOf(jobs, score, chunksAtOnce),
    hadEnded: ({ scored }) => {
      if (scored > 0) failures.hasScored();
    },
  });
  if (summary !== undefined) return { kind: 'scored', summary };
  throw new Error(
    `batch ${request.batch}: expected all ${chunks} chunks to have ended, but some are still open`,
  );
}

/** How often a chunk is tried whose last texts fail for reasons that are not their own, and the pauses between. */
const MOST_TRIES = 3;
const PAUSE = { baseDelayMs: 4_000, maxDelayMs: 60_000 };

/** Scores a chunk, however long it waits for its turn or for other workers: there is no queue to return it to. */
async function scoreInTime(job: ChunkJob, options: ScoreFileOptions): Promise<void> {
  let hasSucceeded = false;
  for (let tries = 1; ; ) {
    const scored = await scoreChunk(job, options);
    if (scored.kind === 'scored') return;
    if (scored.kind === 'later') {
      await options.sleep(scored.delayMs, options.signal);
      continue;
    }
    const { error, alike, progress } = scored;
    hasSucceeded ||= progress > 0;
    if (alike || !(error instanceof PlatformError)) throw error;
    if (tries === MOST_TRIES) {
      // Unless other texts succeeded meanwhile, and these were sent each time: then it is the texts after all.
      if (!hasSucceeded || !error.sent) throw error;
      return void (await failChunk(job, { error: error.message, payer: job.id }, options));
    }
    await options.sleep(backoffMs(tries, options.random(), PAUSE), options.signal);
    tries += 1;
  }
}

/** Acts on all items, `atOnce` at a time. After a failure no further one starts; it is thrown once the others end. */
async function eachOf<T>(items: readonly T[], act: (item: T) => Promise<void>, atOnce: number) {
  const rest = [...items];
  const work = async () => {
    try {
      for (let item = rest.shift(); item !== undefined; item = rest.shift()) await act(item);
    } catch (error) {
      rest.length = 0;
      throw error;
    }
  };
  const workers = Array.from({ length: atOnce }, work);
  await Promise.allSettled(workers);
  await Promise.all(workers);
}
