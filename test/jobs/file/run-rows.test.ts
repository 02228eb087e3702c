import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { FileRow } from '../../../lib/jobs/file/job-file.ts';
import type { EndedJob } from '../../../lib/jobs/handle-message.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import { runRows } from '../../../lib/jobs/local-worker.ts';
import { parseMessage } from '../../../lib/jobs/message/message.ts';
import { RequeueError } from '../../../lib/jobs/send-context.ts';
import type { Runners } from '../../../lib/jobs/types/job-types.ts';
import { TableError } from '../../../lib/table/table-error.ts';
import { fakeWorker, invocationLease, runFunctionJob } from '../fake-worker.ts';

const rowOf = (id: string, functionName = 'add'): FileRow => {
  const body = JSON.stringify({ ...runFunctionJob, id, functionName });
  const read = parseMessage(body, { messageId: '', allow: {} });
  if (read.kind === 'refused') throw new Error(read.faults.join());
  return { line: 1, id, contentHash: read.contentHash, type: 'run-function', calls: 1, body };
};

/** Runs rows with a runner. `withLedger` replaces methods of the ledger. */
async function run(
  rows: readonly FileRow[],
  runner: Runners['run-function'],
  { withLedger = (): Partial<Ledger> => ({}), others = [] as readonly FileRow[] } = {},
) {
  const fake = fakeWorker({ 'run-function': runner });
  const ended: Pick<EndedJob, 'id' | 'status'>[] = [];
  const refused: string[] = [];
  const read: string[] = [];
  const worker = {
    ...fake.worker,
    ledger: { ...fake.ledger, ...withLedger() },
    onEnded: ({ id, status }: EndedJob) => void ended.push({ id, status }),
    onRefused: (id: string) => void refused.push(id),
  };
  async function* all() {
    for (const row of [...others, ...rows]) {
      read.push(row.id);
      yield row;
    }
  }
  const elsewhere: string[] = [];
  const running = runRows(all(), {
    worker,
    lease: { ...invocationLease(fake), deadlineMs: undefined },
    concurrency: 2,
    sender: 'somebody',
    onEndedElsewhere: ({ id }) => void elsewhere.push(id),
    signal: new AbortController().signal,
    async sleep(ms) {
      await turn();
      fake.clock.nowMs += ms;
    },
  });
  return { fake, ended, refused, elsewhere, read, running };
}

const succeeds: Runners['run-function'] = async (_, turn) => {
  await turn.beforeSend();
  turn.onSend();
  return { status: 'done', response: '1' };
};

test('each row is run to its end, even if it has to wait', async () => {
  const waited = new Set<string>();
  const { ended, running } = await run([rowOf('a'), rowOf('b'), rowOf('c')], async (job, turn) => {
    if (job.id === 'b' && waited.size < 3) {
      waited.add(`${waited.size}`);
      throw new RequeueError('not now', 45_000);
    }
    return succeeds(job, turn);
  });

  await running;

  expect(ended.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
  expect(waited.size).toBe(3);
});

test('a job that ended before is skipped, and a job with the same id and other content is refused', async () => {
  const ran: string[] = [];
  const first = await run([rowOf('a'), rowOf('b')], succeeds);
  await first.running;
  const { elsewhere, refused, running } = await run(
    [rowOf('a'), rowOf('b', 'other')],
    async (job, turn) => {
      const outcome = await succeeds(job, turn);
      ran.push(job.id);
      return outcome;
    },
    { withLedger: () => first.fake.ledger },
  );

  await running;

  expect([elsewhere, refused, ran]).toEqual([['a'], ['b'], []]);
});

test('a row whose job another process runs waits only until that job ends, not until its lease expires', async () => {
  const { contentHash } = rowOf('a');
  const request = { id: 'a', type: 'run-function', contentHash, sender: 'another' };
  const other = fakeWorker({});
  const claimed = await other.ledger.claim(request, { leaseMs: 10_000_000 });
  if (claimed.kind !== 'claimed') throw new Error('expected a claim');
  let reads = 0;
  const { elsewhere, fake, running } = await run([rowOf('a')], succeeds, {
    withLedger: () => ({
      ...other.ledger,
      async read(id) {
        reads += 1;
        if (reads === 4) await other.ledger.end(claimed.claim, { status: 'done' });
        return other.ledger.read(id);
      },
    }),
  });
  const startMs = fake.clock.nowMs;

  await running;

  expect(elsewhere).toEqual(['a']);
  expect(fake.clock.nowMs - startMs).toBeLessThan(60_000);
});

test('while the table is unavailable rows wait, and all of them run afterwards', async () => {
  let remaining = 20;
  const unavailable = () => {
    remaining -= 1;
    if (remaining > 0) throw new TableError('read a row', { kind: 'unreachable', code: 'ECONNREFUSED' });
  };
  const { ended, running } = await run([rowOf('a'), rowOf('b'), rowOf('c')], succeeds, {
    withLedger: () => ({ read: async () => void unavailable(), setTime: async () => unavailable() }),
  });

  await running;

  expect(ended).toHaveLength(3);
});

test('a permanent failure ends the run, and the rest of the file is not read', async () => {
  const denied = new TableError('read a row', { kind: 'denied', code: 'AccessDenied' });
  const rows = Array.from({ length: 2_000 }, (_, index) => rowOf(`job-${index}`));
  const { read, running } = await run(rows, succeeds, {
    withLedger: () => ({ read: async () => Promise.reject(denied) }),
  });

  await expect(running).rejects.toThrow(denied);
  expect(read.length).toBeLessThanOrEqual(1_001);
});
