import type { AddCommand } from '../command.ts';
import type { BatchesFlags } from '../show-batches.ts';

/** `batches [BATCH]`: how far batches of texts are, and which rows failed. Sends nothing. */
export const addBatches: AddCommand = (program, terminal, finish) => {
  program
    .command('batches')
    .description('List the batches of texts, with their status, failures and the time left; or show one.')
    .argument('[batch]', 'the batch to show, with the first rows that failed')
    .option('--json', 'print the batches as one JSON value')
    .action(async (batch: string | undefined, flags: BatchesFlags) => {
      const { listBatches, showBatch } = await import('../show-batches.ts');
      finish(await (batch === undefined ? listBatches(flags, terminal) : showBatch(batch, flags, terminal)));
    });
};
