import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';

/*
 * `node jobs-process.ts HANDLER REMAINING_MS`, with a list of records on standard input: gives them to the handler in
 * tens, one batch after another, as Lambda does, and again until none is left. Prints the ids of the messages that are
 * finished after each batch, and what it took at the end.
 */

type Handler = (event: SQSEvent, context: Context) => Promise<SQSBatchResponse>;

const [file = '', remaining = '600000'] = process.argv.slice(2);
const records = (await json(process.stdin)) as readonly SQSRecord[];
const { handler } = (await import(file)) as { readonly handler: Handler };

const requests = new Map<string, number>();
subscribe('http.client.request.start', (message) => {
  const { request } = message as { readonly request: ClientRequest };
  const target = String(request.getHeader('x-amz-target') ?? '');
  const name = target === '' ? nameOf(request) : target.replace(/^.*\./, '');
  requests.set(name, (requests.get(name) ?? 0) + 1);
});

const nameOf = ({ method, path }: ClientRequest): string =>
  path.startsWith('/api/') ? 'platform' : `S3 ${method}`;

const context = { getRemainingTimeInMillis: () => Number(remaining), functionName: 'bench' } as Context;
const print = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Handles all records once, and returns those that are not finished. */
async function handleAll(given: readonly SQSRecord[]): Promise<readonly SQSRecord[]> {
  const left: SQSRecord[] = [];
  for (let start = 0; start < given.length; start += 10) {
    const batch = given.slice(start, start + 10);
    const { batchItemFailures } = await handler({ Records: batch }, context);
    const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    print({
      finished: batch.map(({ messageId }) => messageId).filter((messageId) => !failed.has(messageId)),
    });
    left.push(...batch.filter(({ messageId }) => failed.has(messageId)).map(redelivered));
  }
  return left;
}

const redelivered = (record: SQSRecord): SQSRecord => ({
  ...record,
  attributes: { ...record.attributes, ApproximateReceiveCount: '2' },
});

// The first batch opens everything, and is not measured.
let left = [...(await handleAll(records.slice(0, 10)))];
requests.clear();
const started = { cpu: process.cpuUsage(), ms: performance.now() };
left.push(...(await handleAll(records.slice(10))));
const cpu = process.cpuUsage(started.cpu);
print({
  jobs: records.length - 10,
  wallMs: performance.now() - started.ms,
  cpuMs: (cpu.user + cpu.system) / 1_000,
  requests: Object.fromEntries(requests),
});
for (let round = 0; left.length > 0 && round < 60; round += 1) {
  await delay(500);
  left = [...(await handleAll(left))];
}
process.exit(0);
