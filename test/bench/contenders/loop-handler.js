import { setTimeout as delay } from 'node:timers/promises';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { postToPlatform, requestOf } from './platform-requests.js';

/*
 * What one writes first: a loop over the rows, each tried up to three times, its response stored. On a restart it
 * receives only the rows without a result; a script on a desk would have to find them itself.
 */

const { BENCH_BUCKET = '', BENCH_PREFIX = '' } = process.env;
const s3 = new S3Client({ forcePathStyle: true });
const TRIES = 3;
const PAUSE_MS = 250;

/** Stores the result of a row, or gives it up after the last try. */
export async function runRow({ body }) {
  const message = JSON.parse(body);
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    try {
      const response = await postToPlatform(requestOf(message));
      if (!response.ok) throw new Error(`the platform responded with ${response.status}`);
      const Body = JSON.stringify({ id: message.id, response: await response.json() });
      const Key = `${BENCH_PREFIX}results/${message.type}/${message.id}.json`;
      await s3.send(new PutObjectCommand({ Bucket: BENCH_BUCKET, Key, Body }));
      return;
    } catch {
      await delay(PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}

export async function handler({ Records }) {
  for (const record of Records) await runRow(record);
  return { batchItemFailures: [] };
}
