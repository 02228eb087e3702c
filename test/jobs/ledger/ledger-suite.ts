import { describe, expect, test } from 'vitest';
import type { Claim, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import { createLedger, type Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';

const start = Date.parse('2026-11-21T23:59:00Z');
const leaseMs = 60_000;
const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const done: Outcome = { status: 'done', response: { status: 'SUCCESS' } };

/** Claims the job; the test fails if it cannot be claimed. */
async function claim(ledger: Ledger): Promise<Claim> {
  const answer = await ledger.claim(request, { leaseMs });
  if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${answer.kind}`);
  return answer.claim;
}

/** Claims the job and starts its send; the test fails if either is refused. */
async function send(ledger: Ledger): Promise<Claim> {
  const answer = await ledger.sent(await claim(ledger));
  if (answer.kind !== 'sent') throw new Error(`expected a send, got ${answer.kind}`);
  return answer.claim;
}

/** What the ledger must do on every table. The decisions of its steps are tested in `transitions.test.ts`. */
export function describeLedger(name: string, buildTable: () => Promise<Table>): void {
  const makeLedger = async () => {
    const clock = { nowMs: start };
    const table = await buildTable();
    const now = () => clock.nowMs;
    return { clock, table, now, ledger: createLedger({ table, now }) };
  };

  describe(name, () => {
    test('a ledger stores each step from a claim to an outcome, and a second run after a reopening', async () => {
      const { ledger, clock } = await makeLedger();
      const held = await claim(ledger);
      clock.nowMs += 30_000;
      await ledger.renew(held, leaseMs);
      await ledger.sent(held);
      const sent = await ledger.read('a');
      const ended = await ledger.end(held, { status: 'failed', error: { kind: 'status', message: 'no' } });
      expect(await ledger.read('a')).toEqual(ended.kind === 'ended' && ended.row);
      await ledger.reopen('a');
      clock.nowMs += 48 * 60 * leaseMs;
      const second = await send(ledger);
      await ledger.end(second, done);

      const row = { ...request, dt: '2026-11-21', createdAt: start, takeovers: 0 };
      expect(held).toEqual({
        ...row,
        state: 'CLAIMED',
        fence: 1,
        attempts: 0,
        leaseUntilMs: start + leaseMs,
        startedAt: start,
      });
      expect(sent).toEqual({
        ...held,
        state: 'SENT',
        attempts: 1,
        sentFence: 1,
        leaseUntilMs: start + 90_000,
      });
      expect(await ledger.read('a')).toEqual({
        ...row,
        state: 'DONE',
        fence: 3,
        attempts: 1,
        sentFence: 3,
        startedAt: clock.nowMs,
        finishedAt: clock.nowMs,
        outcome: done,
      });
    });

    test('a ledger gives a job to one of many workers that claim it concurrently', async () => {
      const { ledger } = await makeLedger();

      const answers = await Promise.all([1, 2, 3, 4].map(() => ledger.claim(request, { leaseMs })));

      expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'busy', 'busy', 'claimed']);
    });

    test('a ledger refuses every step of a worker that lost the job, and leaves the row unchanged', async () => {
      const { ledger, clock } = await makeLedger();
      const first = await send(ledger);
      clock.nowMs += leaseMs;
      const answer = await ledger.claim(request, { leaseMs, mayRepeat: true });
      const row = answer.kind === 'claimed' ? answer.claim : undefined;

      const answers = [
        await ledger.sent(first),
        await ledger.renew(first, leaseMs),
        await ledger.release(first),
        await ledger.end(first, done),
      ];

      expect(row).toMatchObject({ fence: 2, takeovers: 1 });
      expect(answers).toEqual(Array(4).fill({ kind: 'lost', row }));
      expect(await ledger.read('a')).toEqual(row);
    });

    test('a ledger decides by the current row if other workers have changed it since it was read', async () => {
      const { table, now, ledger: ours, clock } = await makeLedger();
      const theirs = createLedger({ table, now });
      const held = await claim(ours);
      clock.nowMs += leaseMs - 500;
      await theirs.renew({ ...held }, leaseMs);
      const sent = await ours.sent(held);
      await theirs.cancel('a', { stops: () => true });

      const ended = await ours.end(held, done);

      expect(sent).toMatchObject({ kind: 'sent' });
      expect(ended).toMatchObject({ kind: 'ended', row: { state: 'DONE' } });
    });

    test('a ledger recognizes an outcome that is reported again in another form', async () => {
      const { ledger } = await makeLedger();
      const held = await send(ledger);

      const first = await ledger.end(held, { ...done, error: undefined } as unknown as Outcome);

      expect(await ledger.end(held, done)).toEqual(first);
      expect(await ledger.end(held, { status: 'failed' })).toMatchObject({ kind: 'lost' });
    });

    test('a ledger never stores a claim that records a send once the send is withdrawn, however late it arrives', async () => {
      const { ledger, table } = await makeLedger();
      const writes: (() => Promise<unknown>)[] = [];
      const put: Table['put'] = async (...given) => {
        writes.push(() => table.put(...given));
        throw new TableError('put', { kind: 'unreachable', code: 'ECONNRESET' });
      };
      const late = createLedger({ table: { ...table, put } });
      let tried: Claim | undefined;
      const options = { leaseMs, by: 'one', sends: true, onTry: (each: Claim) => (tried = each) };
      await expect(late.claim(request, options)).rejects.toThrow(TableError);
      if (tried === undefined) throw new Error('expected a try');

      await ledger.release(tried);
      await Promise.all(writes.map((write) => write()));

      const row = await ledger.read('a');
      expect(row).toMatchObject({ ...request, state: 'CLAIMED', attempts: 0 });
      expect(row).not.toHaveProperty('leaseUntilMs');
    });

    test('a ledger looks for a stored outcome of a sent job once no worker has the job, and ends the job with that outcome', async () => {
      const { ledger, clock } = await makeLedger();
      const asked: unknown[] = [];
      const findOutcome = async (sent: unknown) => {
        asked.push(sent);
        return done;
      };
      await send(ledger);
      await ledger.claim(request, { leaseMs, findOutcome });
      clock.nowMs += leaseMs;

      const answer = await ledger.claim(request, { leaseMs, mayRepeat: true, findOutcome });

      expect(answer).toMatchObject({ kind: 'ended', row: { state: 'DONE', fence: 1, outcome: done } });
      expect(await ledger.read('a')).toMatchObject({ outcome: done });
      expect(asked).toEqual([{ id: 'a', createdAt: start, fence: 1 }]);
    });

    test('a ledger stores a response that a table could not: deep nesting, large numbers, odd names', async () => {
      const { ledger } = await makeLedger();
      const response = JSON.parse(
        `${'['.repeat(60)}1e300, {"__proto__": 1, "constructor": 2}${']'.repeat(60)}`,
      );

      await ledger.end(await send(ledger), { status: 'done', response });

      expect(JSON.stringify((await ledger.read('a'))?.outcome?.response)).toBe(JSON.stringify(response));
    });

    test('a ledger lists all jobs, and no other rows of the table', async () => {
      const { ledger, table } = await makeLedger();
      await ledger.cancel('a');
      await ledger.claim({ ...request, id: 'b:c.d_e-f' }, { leaseMs });
      await table.put({ partition: 'text#a', sort: '-' }, {}, { expected: null, token: 't' });

      const ids = (await Array.fromAsync(ledger.list())).map(({ id }) => id);

      expect(ids.toSorted()).toEqual(['a', 'b:c.d_e-f']);
    });

    test('a ledger throws an error for a row that does not belong to a job', async () => {
      const { ledger, table } = await makeLedger();
      await table.put({ partition: 'job#a', sort: '-' }, { id: 'a' }, { expected: null, token: 't' });

      await expect(ledger.read('a')).rejects.toMatchObject({
        name: 'LedgerError',
        message: 'read job a: the row in the table has an invalid field: state',
      });
      expect(await ledger.read('none')).toBeUndefined();
    });
  });
}
