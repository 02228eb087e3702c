import { MOST_MESSAGE_BYTES } from './queue.ts';

/** The most messages that SQS accepts at once. */
const MOST_IN_BATCH = 10;

/** The messages, in order, in batches that SQS accepts: each of at most 10 messages and 256 KB of UTF-8. */
export function* batchesOf(messages: Iterable<string>): Generator<readonly string[]> {
  let batch: string[] = [];
  let batchBytes = 0;
  for (const message of messages) {
    const bytes = Buffer.byteLength(message);
    if (batch.length === MOST_IN_BATCH || (batch.length > 0 && batchBytes + bytes > MOST_MESSAGE_BYTES)) {
      yield batch;
      [batch, batchBytes] = [[], 0];
    }
    batch.push(message);
    batchBytes += bytes;
  }
  if (batch.length > 0) yield batch;
}
