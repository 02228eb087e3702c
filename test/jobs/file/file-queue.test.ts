import { expect, test } from 'vitest';
import { createFileQueue } from '../../../lib/jobs/file/file-queue.ts';
import type { FileRow } from '../../../lib/jobs/file/job-file.ts';
import type { JobRow } from '../../../lib/jobs/ledger/job-row.ts';
import { TableError } from '../../../lib/table/table-error.ts';

const rowOf = (id: string, line: number): FileRow => ({
  line,
  id,
  contentHash: `hash of ${id}`,
  body: `{"id":"${id}"}`,
});

const endedRow = (id: string, contentHash: string): JobRow => ({
  id,
  contentHash,
  state: 'DONE',
  fence: 1,
  attempts: 1,
  takeovers: 0,
  dt: '2026-11-24',
  createdAt: 0,
  finishedAt: 1,
  outcome: { status: 'done' },
});

/** A queue of rows `a`, `b`, …, as many as asked, and a ledger that holds what is put into it. */
function start(count: number) {
  const clock = { nowMs: 0 };
  const ledger = new Map<string, JobRow>();
  const fault: { error?: Error } = {};
  const endedElsewhere: string[] = [];
  const read = { rows: 0 };
  async function* rows() {
    for (let at = 0; at < count; at += 1) {
      read.rows += 1;
      yield rowOf(String.fromCharCode(97 + at), at + 1);
    }
  }
  const queue = createFileQueue({
    rows,
    ledger: {
      async read(id) {
        if (fault.error !== undefined) throw fault.error;
        return ledger.get(id);
      },
    },
    sender: 'somebody',
    onEndedElsewhere: ({ id }) => endedElsewhere.push(id),
    now: () => clock.nowMs,
  });
  const receive = async (most = 10) =>
    (await queue.receive({ most, waitSeconds: 0, visibilitySeconds: 60 })).map(({ messageId }) => messageId);
  return { clock, ledger, fault, endedElsewhere, read, queue, receive };
}

test('rows come in the order of the file, and no row twice while it is in hand', async () => {
  const { queue, receive, clock } = start(3);

  expect(await receive(2)).toEqual(['a', 'b']);
  expect(await receive()).toEqual(['c']);
  clock.nowMs += 59_000;
  for (const id of ['a', 'b', 'c']) await queue.extend?.(id, 60_000);
  clock.nowMs += 59_000;
  expect(await receive()).toEqual([]);
  expect(await queue.counts()).toEqual({ waiting: 0, inFlight: 0, delayed: 3 });
});

test('a row that was put back comes again when it is due, and one that was deleted never', async () => {
  const { queue, receive, clock } = start(2);
  await receive();
  await queue.delete('a');
  await queue.delay('b', 5_000);

  expect(await receive()).toEqual([]);
  clock.nowMs += 5_000;
  expect(await receive()).toEqual(['b']);
});

test('a row that could not be handled comes again once it is visible', async () => {
  const { receive, clock } = start(1);
  await receive();

  clock.nowMs += 60_000;

  expect(await receive()).toEqual(['a']);
});

test('the job of a row in hand is not counted while it is in hand', async () => {
  const { ledger, receive, endedElsewhere, clock } = start(1);
  await receive();
  ledger.set('a', endedRow('a', 'hash of a'));

  clock.nowMs += 2_000;
  await receive();

  expect(endedElsewhere).toEqual([]);
});

test('a message that replaces that of its job is delivered at once', async () => {
  const { queue, receive } = start(1);
  await receive();

  await queue.send(['{"id":"a"}']);
  await queue.delete('a');

  expect(await receive()).toEqual(['a']);
});

test('a job that has ended before is left out, but not one of other content', async () => {
  const { ledger, receive, endedElsewhere } = start(2);
  ledger.set('a', endedRow('a', 'hash of a'));
  ledger.set('b', endedRow('b', 'another hash'));

  expect(await receive()).toEqual(['b']);
  expect(endedElsewhere).toEqual(['a']);
});

test('a job that another process ends meanwhile is not waited for until it is due', async () => {
  const { ledger, queue, receive, endedElsewhere, clock } = start(1);
  await receive();
  await queue.delay('a', 31_000);
  ledger.set('a', endedRow('a', 'hash of a'));

  clock.nowMs += 2_000;
  await receive();

  expect(endedElsewhere).toEqual(['a']);
  expect(await queue.counts()).toEqual({ waiting: 0, inFlight: 0, delayed: 0 });
});

test('while the table is away rows are handed out, and whoever handles them waits for it', async () => {
  const { fault, receive } = start(1);
  fault.error = new TableError('read a row', { kind: 'unreachable', code: 'ECONNREFUSED' });

  expect(await receive()).toEqual(['a']);
});

test('the file is read no further than rows are wanted', async () => {
  const { receive, read } = start(26);

  await receive(1);

  expect(read.rows).toBe(16);
});
