import { defineCommand } from '../command.ts';

/** `batches [BATCH]`: how far batches of texts are, and which rows failed. Sends nothing. */
export const batches = defineCommand({
  does: 'List the batches of texts, with their status, failures and the time left; or show one.',
  arguments: [['[batch]', 'the batch to show, with the first rows that failed']],
  options: [['--json', 'print the batches as one JSON value']],
  examples: ['batches', 'batches may'],
  async run([batch], flags, terminal) {
    const { listBatches, showBatch } = await import('../texts/show-batches.ts');
    return batch === undefined ? listBatches(flags, terminal) : showBatch(batch, flags, terminal);
  },
});
