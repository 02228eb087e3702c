import { setTimeout as delay } from 'node:timers/promises';
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { inGroups, postToPlatform, requestOf, textsOf } from './platform-requests.js';

/*
 * What an expert writes with Powertools who knows that a function must not run twice:
 * - A function whose outcome is not known (no response, or 5xx) is never sent again: its result says `unknown`, and that
 *   is what the table keeps. Only a 429, which proves that nothing ran, is tried again, when `Retry-After` says so.
 * - A function's record stays in progress for an hour, so that one of a killed process does not run again by itself: its
 *   message ends in the dead letters, for a person.
 * - Each text is idempotent by itself: its score is in the table, and a repeat of its chunk pays only for the rest.
 * - A result is written once, by a conditional write.
 */

const { BENCH_BUCKET = '', BENCH_PREFIX = '', BENCH_TABLE = '' } = process.env;
const MONTH_SECONDS = 30 * 24 * 60 * 60;
const HOUR_MS = 3_600_000;

const s3 = new S3Client({ forcePathStyle: true });
const storeOf = (staticPkValue) =>
  new DynamoDBPersistenceLayer({ tableName: BENCH_TABLE, keyAttr: 'pk', sortKeyAttr: 'sk', staticPkValue });
const configBy = (eventKeyJmesPath) =>
  new IdempotencyConfig({
    eventKeyJmesPath,
    throwOnNoIdempotencyKey: true,
    expiresAfterSeconds: MONTH_SECONDS,
  });

const functionConfig = configBy('id');
functionConfig.registerLambdaContext({ getRemainingTimeInMillis: () => HOUR_MS });
const chunkConfig = configBy('id');
const textConfig = configBy('text');

const runFunction = makeIdempotent(async (message) => store(message, await postOnce(requestOf(message))), {
  persistenceStore: storeOf('careful functions'),
  config: functionConfig,
});
const scoreText = makeIdempotent(
  async ({ text }) => {
    const { response, error } = await postOnce(requestOf({ type: 'text', text }));
    if (response === undefined) throw new Error(error);
    return response;
  },
  { persistenceStore: storeOf('careful texts'), config: textConfig },
);
const scoreChunk = makeIdempotent(
  async (message) =>
    store(message, { response: await inGroups(textsOf(message), 8, (text) => scoreText({ text })) }),
  { persistenceStore: storeOf('careful chunks'), config: chunkConfig },
);

const TRIES = 5;

/** The response of the platform, or that it is unknown. Throws only if nothing was done. */
async function postOnce(request) {
  for (let attempt = 1; ; attempt += 1) {
    const sent = await postToPlatform(request).catch((error) => error);
    if (sent instanceof Error && sent.cause?.code === 'ECONNREFUSED') throw sent;
    if (sent instanceof Error || sent.status >= 500)
      return { status: 'unknown', error: String(sent.status ?? sent) };
    if (sent.status !== 429) {
      if (!sent.ok) return { status: 'failed', error: `the platform responded with ${sent.status}` };
      return { response: await sent.json() };
    }
    if (attempt === TRIES) throw new Error('the platform is busy');
    await delay(Number(sent.headers.get('retry-after') ?? 1) * 1_000);
  }
}

async function store({ id, type }, outcome) {
  const Key = `${BENCH_PREFIX}results/${type}/${id}.json`;
  const Body = JSON.stringify({ id, ...outcome });
  const put = new PutObjectCommand({ Bucket: BENCH_BUCKET, Key, Body, IfNoneMatch: '*' });
  await s3.send(put).catch((error) => {
    if (error.name !== 'PreconditionFailed') throw error;
  });
  return { id, result: Key };
}

function handleRecord({ body }) {
  const message = JSON.parse(body);
  return message.type === 'score' ? scoreChunk(message) : runFunction(message);
}
const processor = new BatchProcessor(EventType.SQS);

export async function handler(event, context) {
  for (const config of [chunkConfig, textConfig]) config.registerLambdaContext(context);
  return processPartialResponse(event, handleRecord, processor, { context, throwOnFullBatchFailure: false });
}
