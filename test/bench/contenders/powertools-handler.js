import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { inGroups, postToPlatform, requestOf, textsOf } from './platform-requests.js';

/*
 * What a team writes with Powertools for AWS, as its documentation recommends: a batch processor whose records are made
 * idempotent by the id in their bodies. It runs the function, or scores the texts, eight at a time, stores the
 * responses and returns what the table keeps. It throws every error: the record is deleted, and SQS delivers the message
 * again.
 */

const { BENCH_BUCKET = '', BENCH_PREFIX = '', BENCH_TABLE = '' } = process.env;

const s3 = new S3Client({ forcePathStyle: true });
export const persistenceStore = new DynamoDBPersistenceLayer({
  tableName: BENCH_TABLE,
  keyAttr: 'pk',
  sortKeyAttr: 'sk',
});
const config = new IdempotencyConfig({
  eventKeyJmesPath: 'powertools_json(body).id',
  throwOnNoIdempotencyKey: true,
  expiresAfterSeconds: 30 * 24 * 60 * 60,
});

async function runRecord({ body }) {
  const message = JSON.parse(body);
  const response =
    message.type === 'score'
      ? await inGroups(textsOf(message), 8, (text) => post(requestOf({ type: 'text', text })))
      : await post(requestOf(message));
  return store(message, response);
}

export async function store({ id, type }, response) {
  const Key = `${BENCH_PREFIX}results/${type}/${id}.json`;
  const Body = JSON.stringify({ id, response });
  await s3.send(new PutObjectCommand({ Bucket: BENCH_BUCKET, Key, Body }));
  return { id, result: Key };
}

export async function post(request) {
  const response = await postToPlatform(request);
  if (!response.ok) throw new Error(`the platform responded with ${response.status}`);
  return response.json();
}

export function batchHandler(config, recordHandler) {
  const processor = new BatchProcessor(EventType.SQS);
  return async (event, context) => {
    config.registerLambdaContext(context);
    return processPartialResponse(event, recordHandler, processor, {
      context,
      throwOnFullBatchFailure: false,
    });
  };
}

export const handler = batchHandler(config, makeIdempotent(runRecord, { persistenceStore, config }));
