import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';

/*
 * What a team writes with Powertools for AWS, as its documentation recommends: a batch processor whose records are made
 * idempotent by the id in their bodies. It runs the function, stores its response and returns what the table keeps.
 */

const {
  PLATFORM_BASE_URL = '',
  PLATFORM_TOKEN = '',
  BENCH_BUCKET = '',
  BENCH_PREFIX = '',
  BENCH_TABLE = '',
} = process.env;

const s3 = new S3Client({ forcePathStyle: true });
const persistenceStore = new DynamoDBPersistenceLayer({
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
  const { id, packageId, packageVersion, functionName, inputVariables } = JSON.parse(body);
  const path = `/api/codeengine/v2/packages/${packageId}/versions/${packageVersion}/functions/${functionName}`;
  const response = await fetch(new URL(path, PLATFORM_BASE_URL), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'X-SERVICE-Developer-Token': PLATFORM_TOKEN },
    body: JSON.stringify({ inputVariables }),
    signal: AbortSignal.timeout(330_000),
  });
  if (!response.ok) throw new Error(`the platform responded with ${response.status}`);
  const execution = await response.json();
  const Key = `${BENCH_PREFIX}results/run-function/${id}.json`;
  await s3.send(
    new PutObjectCommand({ Bucket: BENCH_BUCKET, Key, Body: JSON.stringify({ id, response: execution }) }),
  );
  return { id, result: Key };
}

const recordHandler = makeIdempotent(runRecord, { persistenceStore, config });
const processor = new BatchProcessor(EventType.SQS);

export async function handler(event, context) {
  config.registerLambdaContext(context);
  return processPartialResponse(event, recordHandler, processor, { context, throwOnFullBatchFailure: false });
}
