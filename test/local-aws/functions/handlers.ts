import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

type Event = {
  readonly Records?: readonly { readonly messageId: string; readonly body: string }[];
  readonly command?: string;
  readonly path?: string;
};
type Context = { readonly awsRequestId: string; getRemainingTimeInMillis(): number };

const failures = (ids: readonly (string | null)[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

let ticks = 0;

/**
 * A handler that executes the commands in the bodies of its messages, or its event's `command`. If SEEN is set, it logs
 * its invocations as JSON, each on a line that begins with SEEN.
 */
export async function handler(event: Event, context: Context): Promise<unknown> {
  const records = event.Records ?? [];
  const bodies = [event.command, ...records.map(({ body }) => body)];
  const seen = { ...event, pid: process.pid, startedMs: Date.now() };
  if (bodies.includes('slow')) await setTimeout(600);
  if (process.env['SEEN'])
    console.log(`${process.env['SEEN']}${JSON.stringify({ ...seen, endedMs: Date.now() })}`);
  if (bodies.includes('exit')) process.exit(3);
  if (bodies.includes('throw')) throw new RangeError('out of range');
  if (bodies.includes('forever')) await setTimeout(600_000);
  if (bodies.includes('spin')) for (;;);
  if (bodies.includes('null')) return failures([null]);
  if (bodies.includes('unknown')) return failures(['no-such-message']);
  if (bodies.includes('nothing')) return;
  if (bodies.includes('context'))
    return {
      ...context,
      remainingMs: context.getRemainingTimeInMillis(),
      environment: Object.keys(process.env),
    };
  if (bodies.includes('tick')) {
    if (ticks === 0) setInterval(() => (ticks += 1), 10);
    return ticks;
  }
  if (bodies.includes('write')) {
    await writeFile(event.path ?? join(tmpdir(), 'written'), 'x');
    return tmpdir();
  }
  if (bodies.includes('pid')) return process.pid;
  return failures(records.filter(({ body }) => body.startsWith('fail')).map(({ messageId }) => messageId));
}
