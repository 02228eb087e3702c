import { randomUUID } from 'node:crypto';
import type { RunOutcome } from '../../lib/jobs/ledger/job-row.ts';
import { parsePart } from '../../lib/jobs/texts/batch/chunk-objects.ts';
import { readChunkRow } from '../../lib/jobs/texts/batch/finish-batch.ts';
import { splitBatch } from '../../lib/jobs/texts/batch/score-file.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import type { Analyze } from '../../lib/jobs/texts/scoring/scoring-session.ts';
import { scoreRunner } from '../../lib/jobs/types/score/runner.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { fakeWorker } from './fake-worker.ts';
import { memoryQueue } from './memory-queue.ts';
import { HOST, refusedText, row, rowsOf, sentimentOf } from './texts/fakes.ts';

type Options = {
  /** Texts that the platform refuses for good. */
  readonly refused: readonly string[];
  /** The outcomes of the first runs of the job, which score nothing. */
  readonly ends?: readonly ('failed' | 'unknown')[];
  /** Called before each text is sent, with the number of texts that were sent before it. */
  readonly beforeText?: (sent: number) => Promise<void>;
  readonly texts?: readonly string[];
};

/** A batch of texts and a bad row, split onto a queue, and a worker that scores it. */
export async function scoredBatch(options: Options) {
  const { texts = ['one', 'two', 'three'], ends = [], beforeText } = options;
  const fake = fakeWorker({});
  const { batches, store } = fake;
  const { now, sleep, random } = fake.worker;
  const refused = new Set(options.refused);
  const paid: string[] = [];
  const send: Analyze = async (request, { beforeSend, onSend } = {}) => {
    await beforeText?.(paid.length);
    await beforeSend?.();
    onSend?.();
    const context = { operation: 'analyzeSentiment', about: 'sentiment of a text', attempts: 1 };
    if (refused.has(request.text)) throw new PlatformError(refusedText, context);
    paid.push(request.text);
    return sentimentOf(request);
  };
  // Calls leave one at a time, as at a slow pace.
  let last: Promise<unknown> = Promise.resolve();
  const analyze: Analyze = (...given) => {
    const one = last.then(() => send(...given));
    last = one.catch(() => undefined);
    return one;
  };
  const cache = createScoreCache({
    table: batches.table,
    attemptMs: 60_000,
    host: HOST,
    now,
    owner: 'w',
    newToken: randomUUID,
  });
  const run = scoreRunner({
    platform: { sentiment: { analyze } },
    cache,
    batches,
    rate: 20,
    now,
    sleep,
    random,
  });
  const endsLeft = [...ends];
  const runners = {
    ...fake.worker.runners,
    score: async (...given: Parameters<typeof run>): Promise<RunOutcome> => {
      const status = endsLeft.shift();
      return status === undefined ? run(...given) : { status, error: { kind: 'status', message: 'no luck' } };
    },
  };
  const worker = { ...fake.worker, runners };
  const queue = memoryQueue();
  const rows = [
    ...texts.map((text, index) => row(index + 1, text)),
    { line: texts.length + 1, fault: 'no text' },
  ];
  const sendAll = (messages: readonly object[]) => queue.send(messages.map((each) => JSON.stringify(each)));
  await splitBatch(
    { batch: 'b1', request: {}, rows: rowsOf(rows), host: HOST },
    { ...batches, cache, rate: 2, send: sendAll },
  );
  return {
    ...fake,
    worker,
    refused,
    paid,
    queue,
    parts: { store, ledger: fake.ledger, batches, queue },
    async drain() {
      const options = { max: 1, waitSeconds: 0, visibilitySeconds: 60 };
      for (;;) {
        const [message] = await queue.receive(options);
        if (message === undefined) return;
        fake.clock.nowMs += 1_000;
        const { kind } = await fake.handle(message.body, { worker });
        if (kind === 'done') await queue.delete(message.receipt);
      }
    },
    /** The rows of the part that the row of the first chunk names. */
    async part() {
      const stored = await readChunkRow({ batch: 'b1', chunk: 0 }, batches);
      const object = await store.get(stored?.row.part ?? '');
      return (
        object &&
        parsePart('a part', object.body).map(({ line, sentiment, error }) => ({ line, sentiment, error }))
      );
    },
    partKeys: () => Array.fromAsync(store.list('scores/b1/part-'), ({ key }) => key),
    /** Deletes a job's row, as the table does after 30 days. */
    async forgetJob(id: string) {
      const key = { partition: `job#${id}`, sort: '-' };
      const stored = await batches.table.get(key);
      if (stored !== undefined) await batches.table.delete(key, stored.token);
    },
  };
}
