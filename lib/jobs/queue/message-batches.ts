import { MOST_MESSAGE_BYTES } from './queue.ts';

/** The most messages that SQS takes at once. */
const MOST_OF_BATCH = 10;

/** Messages in batches that SQS takes, in their order: at most 10, and 256 KB of UTF-8 in all. */
export function* batchesOf(messages: Iterable<string>): Generator<readonly string[]> {
  let batch: string[] = [];
  let batchBytes = 0;
  for (const message of messages) {
    const bytes = Buffer.byteLength(message);
    if (batch.length === MOST_OF_BATCH || (batch.length > 0 && batchBytes + bytes > MOST_MESSAGE_BYTES)) {
      yield batch;
      [batch, batchBytes] = [[], 0];
    }
    batch.push(message);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}
