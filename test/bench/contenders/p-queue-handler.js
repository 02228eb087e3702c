import PQueue from 'p-queue';
import { runRow } from './loop-handler.js';

/* What one writes next: the rows of the loop, ten at a time and at most 500 a second. */

const queue = new PQueue({ concurrency: 10, intervalCap: 500, interval: 1_000 });

export async function handler({ Records }) {
  await queue.addAll(Records.map((record) => () => runRow(record)));
  return { batchItemFailures: [] };
}
