import type * as z from 'zod/mini';
import { reopenChunk } from '../../texts/batch/finish-batch.ts';
import { failChunk } from '../../texts/batch/score-chunk.ts';
import type { JobTypeDefinition } from '../job-type-definition.ts';
import { scoreChecks } from './message.ts';

const TEXT = 'The delivery was late and the box was damaged. The support team was wonderful!';

/** Scores texts. A repeat does no harm, since the cache has everything that was paid for. */
export const score: JobTypeDefinition<
  z.infer<typeof scoreChecks.schema>,
  z.input<typeof scoreChecks.schema>
> = {
  ...scoreChecks,
  mayRepeat: () => true,
  isClaimedFirst: true,
  sendsMany: true,
  isBulk: ({ batch }) => batch !== undefined,
  // A text that was already scored by an equal request needs no call.
  maxCalls: ({ texts }) => new Set(texts.map(({ text }) => text)).size,
  async openRunner({ session, storage: { cache, batches }, ...parts }) {
    const { scoreRunner } = await import('./runner.ts');
    const { PLATFORM_CONCURRENCY: concurrency, PLATFORM_RATE: rate } = session.settings;
    return scoreRunner({ cache, batches, concurrency, rate, ...parts });
  },
  /** Ends the chunk of an unsuccessful job: its rows without a result fail, so that they do not delay the batch. */
  async afterEnd({ id, batch, chunk }, { outcome: { status, error } }, { batches }) {
    if (batch === undefined || chunk === undefined || status === 'done') return;
    await failChunk({ batch, chunk }, { error: error?.message ?? status, jobId: id }, batches);
  },
  /** Reopens a chunk, so that its failed rows are scored. */
  async beforeReopen({ batch, chunk }, { batches }) {
    if (batch !== undefined && chunk !== undefined) await reopenChunk({ batch, chunk }, batches);
  },
  sample: () => ({
    version: 1,
    type: 'score',
    id: 'tour-sentiment',
    texts: [{ id: 'letter', text: TEXT }],
    topics: [{ topic: 'delivery' }, { topic: 'support' }, { topic: 'price' }],
  }),
};
