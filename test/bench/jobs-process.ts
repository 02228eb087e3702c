import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type RaceRecord, redelivered } from './jobs-records.ts';

/*
 * `node jobs-process.ts HANDLER REMAINING_MS`, with a list of records on standard input. Passes them to the handler in
 * batches of ten, one after another, as Lambda does, and repeats this until all are finished or there was no progress
 * for a while. After each batch it prints the ids of finished messages, and the cost since the first one, which opens
 * everything.
 */

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

const [file = '', remaining = '600000'] = process.argv.slice(2);
const records = (await json(process.stdin)) as readonly RaceRecord[];
const { handler } = (await import(file)) as { readonly handler: Handler };

const requests = new Map<string, number>();
const count = (name: string) => requests.set(name, (requests.get(name) ?? 0) + 1);
subscribe('http.client.request.start', (message) => {
  const { request } = message as { readonly request: ClientRequest };
  count(serviceOf(request));
});
// Counts the requests of `fetch`.
subscribe('undici:request:create', () => count('platform'));

function serviceOf(request: ClientRequest): string {
  const target = String(request.getHeader('x-amz-target') ?? '');
  if (request.path.startsWith('/api/')) return 'platform';
  return target.startsWith('DynamoDB') ? 'DynamoDB' : target.startsWith('AmazonSQS') ? 'SQS' : 'S3';
}

const context = { getRemainingTimeInMillis: () => Number(remaining), functionName: 'bench' } as Context;
let started = { cpu: process.cpuUsage(), ms: performance.now() };
let jobs = 0;

/** Handles all records once, and returns the unfinished ones. */
async function handleAll(given: readonly RaceRecord[]): Promise<readonly RaceRecord[]> {
  const left: RaceRecord[] = [];
  for (let start = 0; start < given.length; start += 10) {
    const batch = given.slice(start, start + 10);
    const { batchItemFailures } = await handler({ Records: batch }, context);
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    const finished = batch.map(({ messageId }) => messageId).filter((messageId) => !failed.has(messageId));
    jobs += finished.length;
    print(finished);
    left.push(...batch.filter(({ messageId }) => failed.has(messageId)).map(redelivered));
  }
  return left;
}

function print(finished: readonly string[]): void {
  const cpu = process.cpuUsage(started.cpu);
  const took = {
    jobs,
    wallMs: performance.now() - started.ms,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    peakMb: process.resourceUsage().maxRSS / 1_024,
    requests: Object.fromEntries(requests),
  };
  process.stdout.write(`${JSON.stringify({ finished, took })}\n`);
}

/** A message is delivered again after the first time. It counts as lost if nothing succeeded for the second. */
const AGAIN_MS = 500;
const MAX_IDLE_MS = 15_000;

let left = [...(await handleAll(records.slice(0, 1)))];
requests.clear();
jobs = 0;
started = { cpu: process.cpuUsage(), ms: performance.now() };
left.push(...(await handleAll(records.slice(1))));
for (let movedMs = performance.now(); left.length > 0 && performance.now() - movedMs < MAX_IDLE_MS; ) {
  await delay(AGAIN_MS);
  const before = left.length;
  left = [...(await handleAll(left))];
  if (left.length < before) movedMs = performance.now();
}
process.exit(0);
