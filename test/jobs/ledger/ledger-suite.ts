import { describe, expect, test } from 'vitest';
import { createLedger } from '../../../lib/jobs/ledger/create-ledger.ts';
import type { Claim, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import { neverSent } from '../../../lib/jobs/ledger/transitions.ts';
import type { Table } from '../../../lib/table/table.ts';
import { TableError } from '../../../lib/table/table-error.ts';

/** What the ledger must do over every table. `makeTable` gives each test an empty table of its own. */
export function describeLedger(name: string, makeTable: () => Promise<Table>): void {
  const makeLedger = async (): Promise<Bench> => {
    const clock = { nowMs: start };
    const table = await makeTable();
    return { clock, table, ledger: createLedger({ table, now: () => clock.nowMs }) };
  };
  describe(name, () => {
    describe('a claim', () => describeClaims(makeLedger));
    describe('a send', () => describeSends(makeLedger));
    describe('a lease', () => describeLeases(makeLedger));
    describe('an end', () => describeEnds(makeLedger));
    describe('an outcome that the ledger never heard of', () => describeLateOutcomes(makeLedger));
    describe('people', () => describePeople(makeLedger));
    describe('the requests of a job', () => describeRequests(makeTable));
  });
}

type Bench = { readonly clock: { nowMs: number }; readonly table: Table; readonly ledger: Ledger };
type MakeLedger = () => Promise<Bench>;

const start = Date.parse('2026-11-21T23:59:00Z');
const leaseMs = 60_000;
const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const done: Outcome = { status: 'done', response: { status: 'SUCCESS' } };
const failed: Outcome = { status: 'failed', error: { kind: 'status', message: 'refused', status: 404 } };

/** Claims the job, or fails the test. */
async function claim(ledger: Ledger, mayRepeat = false): Promise<Claim> {
  const answer = await ledger.claim(request, { leaseMs, mayRepeat });
  if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${answer.kind}`);
  return answer.claim;
}

/** Claims the job and starts its send, or fails the test. */
async function send(ledger: Ledger, mayRepeat = false): Promise<Claim> {
  const answer = await ledger.sent(await claim(ledger, mayRepeat), { mustLastMs: 1_000 });
  if (answer.kind !== 'sent') throw new Error(`expected a send, got ${answer.kind}`);
  return answer.claim;
}

function describeClaims(makeLedger: MakeLedger): void {
  test('of a job that nobody has seen creates its row', async () => {
    const { ledger } = await makeLedger();

    const answer = await ledger.claim(request, { leaseMs });

    const row = {
      ...request,
      state: 'CLAIMED',
      fence: 1,
      leaseUntilMs: start + leaseMs,
      attempts: 0,
      takeovers: 0,
      dt: '2026-11-21',
      createdAt: start,
      startedAt: start,
    };
    expect(answer).toEqual({ kind: 'claimed', claim: row });
    expect(await ledger.read('a')).toEqual(row);
  });

  test('of a job that somebody has is busy until the lease expires', async () => {
    const { ledger } = await makeLedger();
    await claim(ledger);

    const answer = await ledger.claim(request, { leaseMs });

    expect(answer).toEqual({ kind: 'busy', untilMs: start + leaseMs });
  });

  test('by many workers at once succeeds for one of them', async () => {
    const { ledger } = await makeLedger();

    const answers = await Promise.all([1, 2, 3, 4].map(() => ledger.claim(request, { leaseMs })));

    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['busy', 'busy', 'busy', 'claimed']);
  });

  test('takes over an expired lease, and keeps the day of the first claim', async () => {
    const { ledger, clock } = await makeLedger();
    await claim(ledger);
    clock.nowMs += leaseMs;

    const second = await claim(ledger);

    expect(second).toMatchObject({ fence: 2, takeovers: 1, attempts: 0, dt: '2026-11-21', startedAt: start });
    expect(second.leaseUntilMs).toBe(start + 2 * leaseMs);
  });

  test('after ten takeovers ends the job as failed', async () => {
    const { ledger, clock } = await makeLedger();
    for (let worker = 0; worker <= 10; worker += 1) {
      await claim(ledger);
      clock.nowMs += leaseMs;
    }

    const answer = await ledger.claim(request, { leaseMs });

    expect(answer).toMatchObject({
      kind: 'ended',
      row: {
        state: 'FAILED',
        outcome: {
          status: 'failed',
          error: { kind: 'workers-died', message: '11 workers died while they had the job' },
        },
      },
    });
  });

  test('after ten takeovers ends a job that was sent as unknown', async () => {
    const { ledger, clock } = await makeLedger();
    for (let worker = 0; worker <= 10; worker += 1) {
      await send(ledger, true);
      clock.nowMs += leaseMs;
    }

    const answer = await ledger.claim(request, { leaseMs, mayRepeat: true });

    expect(answer).toMatchObject({
      kind: 'ended',
      row: { state: 'UNKNOWN', attempts: 11, outcome: { error: { kind: 'workers-died' } } },
    });
  });

  test('of a send whose lease expired ends the job as unknown', async () => {
    const { ledger, clock } = await makeLedger();
    await send(ledger);
    clock.nowMs += leaseMs;

    const answer = await ledger.claim(request, { leaseMs });

    expect(answer).toMatchObject({
      kind: 'ended',
      row: {
        state: 'UNKNOWN',
        attempts: 1,
        finishedAt: clock.nowMs,
        outcome: { status: 'unknown', error: { kind: 'answer-lost' } },
      },
    });
  });

  test('of a send whose lease lasts is busy, even if it may be repeated', async () => {
    const { ledger } = await makeLedger();
    await send(ledger);

    const answer = await ledger.claim(request, { leaseMs, mayRepeat: true });

    expect(answer).toEqual({ kind: 'busy', untilMs: start + leaseMs });
  });

  test('takes over a send whose lease expired if it may be repeated', async () => {
    const { ledger, clock } = await makeLedger();
    await send(ledger);
    clock.nowMs += leaseMs;

    const second = await send(ledger, true);

    expect(second).toMatchObject({ state: 'SENT', fence: 2, sentFence: 2, takeovers: 1, attempts: 2 });
  });

  test.each([
    [
      'expired',
      async (ledger: Ledger, clock: Bench['clock']) => {
        await claim(ledger, true);
        clock.nowMs += leaseMs;
      },
    ],
    ['was released', async () => undefined],
  ])(
    'that may not repeat does not continue a repeat that %s: the first send is unknown',
    async (_, leave) => {
      const { ledger, clock } = await makeLedger();
      const first = await send(ledger);
      clock.nowMs += leaseMs;
      await ledger.release(await send(ledger, true), { hasLeft: true, counts: 'attempt' });
      await leave(ledger, clock);

      const answer = await ledger.claim(request, { leaseMs });
      const late = await ledger.end(first, done);

      expect(answer).toMatchObject({ kind: 'ended', row: { state: 'UNKNOWN', sentFence: 1 } });
      expect(late).toEqual({ kind: 'called-unknown' });
    },
  );

  test.for([
    [done, 'DONE'],
    [failed, 'FAILED'],
    [{ status: 'unknown', staged: 'results/a.json' }, 'UNKNOWN'],
  ] as const)('of a job that ended returns how it ended: %j', async ([outcome, state]) => {
    const { ledger, clock } = await makeLedger();
    await ledger.end(await send(ledger), outcome);
    clock.nowMs += 100 * leaseMs;

    const answer = await ledger.claim(request, { leaseMs, mayRepeat: true });

    expect(answer).toMatchObject({ kind: 'ended', row: { ...request, state, outcome, finishedAt: start } });
  });

  test('with different content changes nothing, whatever the state of the job', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await send(ledger);
    const other = { ...request, contentHash: 'other' };

    const whileHeld = await ledger.claim(other, { leaseMs });
    clock.nowMs += leaseMs;
    const whenExpired = await ledger.claim(other, { leaseMs });
    expect(await ledger.read('a')).toEqual(held);
    await ledger.end(held, done);
    const whenEnded = await ledger.claim(other, { leaseMs });

    expect([whileHeld, whenExpired, whenEnded]).toEqual(Array(3).fill({ kind: 'other-content' }));
  });

  test('needs a lease longer than 0', async () => {
    const { ledger } = await makeLedger();

    const answer = ledger.claim(request, { leaseMs: 0 });

    await expect(answer).rejects.toThrow('leaseMs: expected milliseconds above 0, got 0');
  });
}

function describeSends(makeLedger: MakeLedger): void {
  test('counts an attempt and records its fence', async () => {
    const { ledger } = await makeLedger();

    const sent = await send(ledger);

    expect(sent).toMatchObject({ state: 'SENT', attempts: 1, sentFence: 1, leaseUntilMs: start + leaseMs });
    expect(await ledger.read('a')).toEqual(sent);
  });

  test('starts if the lease lasts exactly long enough', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await claim(ledger);
    clock.nowMs += 50_000;

    const answer = await ledger.sent(held, { mustLastMs: 10_000 });

    expect(answer.kind).toBe('sent');
  });

  test.for([
    [50_001, 10_000, 9_999],
    [60_000, 1, 0],
    [60_001, 1, -1],
  ] as const)(
    '%i ms into a lease of 60 s is too late if it may take %i ms',
    async ([agoMs, mustLastMs, leftMs]) => {
      const { ledger, clock } = await makeLedger();
      const held = await claim(ledger);
      clock.nowMs += agoMs;

      const answer = await ledger.sent(held, { mustLastMs });

      expect(answer).toEqual({ kind: 'too-late', leftMs });
      expect(await ledger.read('a')).toEqual(held);
    },
  );

  test('that was written too slowly may not leave, and is taken back by a release', async () => {
    const { clock, table } = await makeLedger();
    const slow: Table = {
      ...table,
      put: async (key, row, options) => {
        clock.nowMs += 20_000;
        return table.put(key, row, options);
      },
    };
    const ledger = createLedger({ table: slow, now: () => clock.nowMs });
    const held = await claim(ledger);

    const answer = await ledger.sent(held, { mustLastMs: 30_000 });

    await ledger.release(held);

    expect(answer).toEqual({ kind: 'too-late', leftMs: 20_000 });
    const row = await ledger.read('a');
    expect(row).toMatchObject({ state: 'CLAIMED', attempts: 0 });
    expect(row).not.toHaveProperty('sentFence');
  });

  test('by a worker that lost the job is refused', async () => {
    const { ledger, clock } = await makeLedger();
    const first = await claim(ledger);
    clock.nowMs += leaseMs;
    const second = await claim(ledger);

    const answer = await ledger.sent(first, { mustLastMs: 1 });

    expect(answer).toEqual({ kind: 'lost', row: second });
    expect(await ledger.read('a')).toEqual(second);
  });

  test('of a missing job is refused', async () => {
    const { ledger } = await makeLedger();

    const answer = await ledger.sent({ id: 'none', fence: 1 }, { mustLastMs: 1 });

    expect(answer).toEqual({ kind: 'lost', row: undefined });
  });

  test('whose response was lost is known by its holder, though its lease was renewed since', async () => {
    const { ledger, clock } = await makeLedger();
    const sent = await send(ledger);
    clock.nowMs += 1_000;
    const renewed = await ledger.renew({ ...sent }, leaseMs);

    const answer = await ledger.sent({ ...sent }, { mustLastMs: 1 });

    expect(answer).toEqual(renewed.kind === 'held' && { kind: 'sent', claim: renewed.claim });
    expect(await ledger.read('a')).toMatchObject({ state: 'SENT', attempts: 1 });
  });

  test.for([
    ['counts as an attempt if it left', { hasLeft: true, counts: 'attempt' }, { attempts: 1 }],
    [
      'counts as unsent if it left in a try',
      { hasLeft: true, counts: 'try' },
      { attempts: 1, unsentAttempts: 1 },
    ],
    ['does not count if its turn only waited', { hasLeft: true, counts: 'nothing' }, { attempts: 0 }],
    ['does not count if it never left', { counts: 'try' }, { attempts: 0, unsentTries: 1 }],
  ] as const)('that is taken back %s', async ([, options, expected]) => {
    const { ledger } = await makeLedger();
    const sent = await send(ledger);

    const released = await ledger.release(sent, options);
    const again = await ledger.release(sent, options);
    const second = await claim(ledger);

    expect(released).toMatchObject({ kind: 'released', row: { state: 'CLAIMED', ...expected } });
    expect(again).toEqual(released);
    expect(second).toMatchObject({ state: 'CLAIMED', fence: 2, takeovers: 0, ...expected });
    expect(second).not.toHaveProperty('sentFence');
  });

  test('that is written with the claim, and whose response was lost, is its delivery’s own', async () => {
    const { ledger } = await makeLedger();
    const options = { leaseMs, by: 'one', sends: true };
    const lost = await ledger.claim(request, options);

    const again = await ledger.claim(request, options);
    const other = await ledger.claim(request, { ...options, by: 'another' });

    expect(again).toEqual(lost);
    expect(other).toMatchObject({ kind: 'busy' });
  });

  test('that is written with the claim may be stored at any time, until it is taken back', async () => {
    const { ledger } = await makeLedger();
    let tried: Claim | undefined;
    const options = { leaseMs, by: 'one', sends: true, onTry: (each: Claim) => (tried = each) };
    await ledger.claim(request, options);
    if (tried === undefined) throw new Error('expected a try');

    const stored = await ledger.takeBack(tried);
    const mine = await send(ledger);
    const others = await ledger.takeBack({ ...tried, fence: 2 });

    expect(stored).toMatchObject({ kind: 'released', row: { state: 'CLAIMED', attempts: 0 } });
    expect(others).toEqual({ kind: 'lost', row: mine });
  });

  test('that is written with the claim, and is taken back before it is stored, is never stored', async () => {
    const { ledger, table } = await makeLedger();
    const writes: (() => Promise<unknown>)[] = [];
    const late = createLedger({
      table: {
        ...table,
        async put(...given) {
          writes.push(() => table.put(...given));
          throw new TableError('put', { kind: 'unreachable', code: 'ECONNRESET' });
        },
      },
    });
    let tried: Claim | undefined;
    const options = { leaseMs, by: 'one', sends: true, onTry: (each: Claim) => (tried = each) };
    await expect(late.claim(request, options)).rejects.toThrow(TableError);
    if (tried === undefined) throw new Error('expected a try');

    await ledger.takeBack(tried);
    await Promise.all(writes.map((write) => write()));

    expect(await ledger.read('a')).toMatchObject({ state: 'CLAIMED', attempts: 0, type: 'run-function' });
    expect(await ledger.read('a')).not.toHaveProperty('leaseUntilMs');
  });

  test('that never left makes the job that was called unknown fail, once that is staged', async () => {
    const { ledger, clock } = await makeLedger();
    const sent = await send(ledger);
    clock.nowMs += leaseMs;
    await ledger.claim(request, { leaseMs });

    const answer = await ledger.release(sent);
    const second = await ledger.claim(request, { leaseMs, findOutcome: async () => neverSent });

    expect(answer).toEqual({ kind: 'called-unknown' });
    expect(second).toMatchObject({ kind: 'ended', row: { state: 'FAILED', outcome: neverSent } });
    expect(await ledger.release(sent)).toEqual({ kind: 'called-unknown' });
  });

  test('is not taken back by a worker that lost the job', async () => {
    const { ledger, clock } = await makeLedger();
    const first = await send(ledger);
    clock.nowMs += leaseMs;
    const second = await send(ledger, true);

    const answer = await ledger.release(first);

    expect(answer).toEqual({ kind: 'lost', row: second });
    expect(await ledger.read('a')).toEqual(second);
  });
}

function describeLeases(makeLedger: MakeLedger): void {
  test('is renewed by its holder, whether claimed or sent', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await claim(ledger);
    clock.nowMs += 30_000;
    const first = await ledger.renew(held, leaseMs);
    await ledger.sent(held, { mustLastMs: 1 });
    clock.nowMs += 30_000;

    const second = await ledger.renew(held, leaseMs);

    expect(first).toMatchObject({ kind: 'held', claim: { state: 'CLAIMED', leaseUntilMs: start + 90_000 } });
    expect(second).toMatchObject({ kind: 'held', claim: { state: 'SENT', leaseUntilMs: start + 120_000 } });
  });

  test('is not made shorter', async () => {
    const { ledger } = await makeLedger();
    const held = await claim(ledger);

    const answer = await ledger.renew(held, 1_000);

    expect(answer).toMatchObject({ claim: { leaseUntilMs: start + leaseMs } });
  });

  test('that expired still belongs to its holder until it is taken over', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await claim(ledger);
    clock.nowMs += 2 * leaseMs;

    const renewed = await ledger.renew(held, leaseMs);
    clock.nowMs += leaseMs;
    const second = await claim(ledger);
    const lost = await ledger.renew(held, leaseMs);

    expect(renewed.kind).toBe('held');
    expect(lost).toEqual({ kind: 'lost', row: second });
  });

  test('that is released lets anyone claim at once, and no takeover is counted', async () => {
    const { ledger } = await makeLedger();
    const held = await claim(ledger);

    const released = await ledger.release(held);
    const again = await ledger.release(held);
    const second = await claim(ledger);

    expect(released).toMatchObject({ kind: 'released', row: { state: 'CLAIMED', attempts: 0 } });
    expect(again).toEqual(released);
    expect(second).toMatchObject({ fence: 2, takeovers: 0, attempts: 0 });
  });

  test('that is released after a try counts it, until the job is reopened', async () => {
    const { ledger } = await makeLedger();
    const first = await send(ledger);
    await ledger.release(first, { hasLeft: true, counts: 'try' });
    const second = await claim(ledger);
    await ledger.release(second, { counts: 'try' });
    const third = await claim(ledger);

    await ledger.end(third, { status: 'failed' });
    const reopened = await ledger.reopen('a');

    expect([first, second, third].map(({ unsentTries }) => unsentTries)).toEqual([undefined, 1, 2]);
    expect(third.unsentAttempts).toBe(1);
    expect(reopened.row).not.toHaveProperty('unsentTries');
    expect(reopened.row).not.toHaveProperty('unsentAttempts');
  });

  test('that is released no longer belongs to its holder', async () => {
    const { ledger } = await makeLedger();
    const held = await claim(ledger);
    await ledger.release(held);
    const { leaseUntilMs: _, ...row } = held;

    const answers = [
      await ledger.sent(held, { mustLastMs: 1 }),
      await ledger.renew(held, leaseMs),
      await ledger.end(held, done),
    ];

    expect(answers).toEqual(Array(3).fill({ kind: 'lost', row }));
    expect(await ledger.read('a')).toEqual(row);
  });

  test('is not released by a worker that lost the job', async () => {
    const { ledger, clock } = await makeLedger();
    const first = await claim(ledger);
    clock.nowMs += leaseMs;
    const second = await claim(ledger);

    const answer = await ledger.release(first);

    expect(answer).toEqual({ kind: 'lost', row: second });
  });
}

function describeEnds(makeLedger: MakeLedger): void {
  test.for([
    ['CLAIMED', claim],
    ['SENT', send],
  ] as const)('is written by the holder of a job that is %s', async ([, take]) => {
    const { ledger, clock } = await makeLedger();
    const held = await take(ledger);
    clock.nowMs += 5_000;

    const answer = await ledger.end(held, failed);

    const { leaseUntilMs: _, ...open } = held;
    const row = { ...open, state: 'FAILED', outcome: failed, finishedAt: start + 5_000 };
    expect(answer).toEqual({ kind: 'ended', row });
    expect(await ledger.read('a')).toEqual(row);
  });

  test('is written by the holder even after the lease has expired', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await send(ledger);
    clock.nowMs += 2 * leaseMs;

    const answer = await ledger.end(held, done);

    expect(answer).toMatchObject({ kind: 'ended', row: { state: 'DONE' } });
  });

  test('that is reported again returns the same row', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await send(ledger);
    const first = await ledger.end(held, { ...done, error: undefined } as unknown as Outcome);
    clock.nowMs += 5_000;

    const second = await ledger.end(held, done);

    expect(second).toEqual(first);
  });

  test('is not changed later', async () => {
    const { ledger } = await makeLedger();
    const held = await send(ledger);
    await ledger.end(held, done);
    const row = await ledger.read('a');

    const answer = await ledger.end(held, failed);

    expect(answer).toEqual({ kind: 'lost', row });
    expect(await ledger.read('a')).toEqual(row);
  });

  test.for([done, failed])('by a worker that lost the job is refused: %j', async (outcome) => {
    const { ledger, clock } = await makeLedger();
    const first = await send(ledger);
    clock.nowMs += leaseMs;
    const second = await send(ledger, true);

    const answer = await ledger.end(first, outcome);

    expect(answer).toEqual({ kind: 'lost', row: second });
    expect(await ledger.read('a')).toEqual(second);
  });

  test('that was unknown is left so by a late response to the fence that sent, for who finds it staged', async () => {
    const { ledger, clock } = await makeLedger();
    const sent = await send(ledger);
    clock.nowMs += leaseMs;
    await ledger.claim(request, { leaseMs });

    const answer = await ledger.end(sent, done);
    const other = await ledger.end({ ...sent, fence: 2 }, done);

    expect(answer).toEqual({ kind: 'called-unknown' });
    expect(other).toMatchObject({ kind: 'lost', row: { state: 'UNKNOWN' } });
    expect(await ledger.read('a')).toMatchObject({ state: 'UNKNOWN' });
  });

  test('of a reopened job has a later time than its first end', async () => {
    const { ledger, clock } = await makeLedger();
    clock.nowMs += 5_000;
    await ledger.end(await send(ledger), failed);
    await ledger.reopen('a');
    clock.nowMs -= 2_000;

    await ledger.end(await send(ledger), done);

    const row = await ledger.read('a');
    expect(row).toMatchObject({ state: 'DONE', finishedAt: start + 5_001 });
    expect(row).not.toHaveProperty('earlierFinishedAt');
  });

  test('that was unknown does not become failed', async () => {
    const { ledger, clock } = await makeLedger();
    const sent = await send(ledger);
    clock.nowMs += leaseMs;
    await ledger.claim(request, { leaseMs });
    const row = await ledger.read('a');

    const answer = await ledger.end(sent, failed);

    expect(answer).toEqual({ kind: 'lost', row });
  });

  test('that was unknown does not become done by a fence that did not send', async () => {
    const { ledger } = await makeLedger();
    const held = await claim(ledger);
    await ledger.end(held, { status: 'unknown' });
    const row = await ledger.read('a');

    const answer = await ledger.end(held, done);

    expect(answer).toEqual({ kind: 'lost', row });
  });

  test('stores a response that a table could not: deep nesting, large numbers, odd names', async () => {
    const { ledger } = await makeLedger();
    const response = JSON.parse(
      `${'['.repeat(60)}1e300, {"__proto__": 1, "constructor": 2}${']'.repeat(60)}`,
    );

    await ledger.end(await send(ledger), { status: 'done', response });

    expect(JSON.stringify((await ledger.read('a'))?.outcome?.response)).toBe(JSON.stringify(response));
  });
}

function describePeople(makeLedger: MakeLedger): void {
  test('read nothing if there is no job', async () => {
    const { ledger } = await makeLedger();

    expect(await ledger.read('a')).toBeUndefined();
  });

  test('cancel a job that has not arrived yet, and no content revives it', async () => {
    const { ledger } = await makeLedger();

    const cancelled = await ledger.cancel('a');
    const claimed = await ledger.claim(request, { leaseMs });
    const other = await ledger.claim({ ...request, contentHash: 'other' }, { leaseMs });

    const row = { id: 'a', state: 'FAILED', dt: '2026-11-21', outcome: { error: { kind: 'cancelled' } } };
    expect(cancelled).toMatchObject({ kind: 'cancelled', row });
    expect(claimed).toMatchObject({ kind: 'ended', row: { ...row, ...request } });
    expect(other).toMatchObject({ kind: 'ended', row: { ...row, contentHash: 'other' } });
  });

  test('cancel a job that somebody has, whose send is then refused', async () => {
    const { ledger } = await makeLedger();
    const held = await claim(ledger);

    const cancelled = await ledger.cancel('a');
    const sent = await ledger.sent(held, { mustLastMs: 1 });
    const end = await ledger.end(held, done);

    expect(cancelled).toMatchObject({ kind: 'cancelled', row: { state: 'FAILED', finishedAt: start } });
    expect(sent).toEqual({ kind: 'lost', row: cancelled.row });
    expect(end).toEqual({ kind: 'lost', row: cancelled.row });
  });

  test('cancel a job whose lease expired', async () => {
    const { ledger, clock } = await makeLedger();
    await claim(ledger);
    clock.nowMs += leaseMs;

    expect(await ledger.cancel('a')).toMatchObject({ kind: 'cancelled' });
  });

  test('do not cancel a job that was sent', async () => {
    const { ledger, clock } = await makeLedger();
    const sent = await send(ledger);
    clock.nowMs += leaseMs;

    const answer = await ledger.cancel('a');

    expect(answer).toEqual({ kind: 'sent', row: sent });
    expect(await ledger.read('a')).toEqual(sent);
  });

  test('ask a job to stop that somebody has, sent or not, where its type stops between sends', async () => {
    const { ledger, clock } = await makeLedger();
    const held = await claim(ledger);
    const stops = () => true;

    const claimed = await ledger.cancel('a', { stops });
    const sent = await ledger.sent(held, { mustLastMs: 1 });
    const again = await ledger.cancel('a', { stops });
    clock.nowMs += leaseMs;
    const next = await ledger.claim(request, { leaseMs, mayRepeat: true });

    expect(claimed).toEqual({ kind: 'stopping', row: { ...held, cancelled: true } });
    expect(sent).toMatchObject({ kind: 'sent', claim: { cancelled: true } });
    expect(again).toMatchObject({ kind: 'stopping', row: { state: 'SENT', cancelled: true } });
    expect(next).toMatchObject({ kind: 'claimed', claim: { fence: 2, cancelled: true } });
    const ended = await ledger.end({ id: 'a', fence: 2 }, done);
    expect(ended).toHaveProperty('row.state', 'DONE');
    expect('row' in ended && ended.row).not.toHaveProperty('cancelled');
  });

  test('cancel a failed job: it stays as it was, and only who names it reopens it', async () => {
    const { ledger } = await makeLedger();
    await ledger.end(await send(ledger), failed);
    const row = await ledger.read('a');

    const answer = await ledger.cancel('a');
    const again = await ledger.cancel('a');
    const unnamed = await ledger.reopen('a');
    const named = await ledger.reopen('a', { isNamed: true });

    expect(answer).toEqual({ kind: 'cancelled', row: { ...row, cancelled: true } });
    expect(again).toEqual({ kind: 'ended', row: answer.row });
    expect(unnamed).toEqual({ kind: 'refused', row: answer.row });
    expect(named).toMatchObject({ kind: 'reopened', row: { state: 'CLAIMED' } });
    expect(named.row).not.toHaveProperty('cancelled');
  });

  test.for([
    ['done', { state: 'DONE', outcome: { status: 'done', note: 'it ran' } }],
    [
      'failed',
      { state: 'FAILED', outcome: { status: 'failed', error: { kind: 'resolved', message: 'it ran' } } },
    ],
  ] as const)(
    'settle an unknown job as %s, with a later time, and again the same',
    async ([status, expected]) => {
      const { ledger } = await makeLedger();
      const sent = await send(ledger);
      const error = { kind: 'timeout', message: 'no response' };
      await ledger.end(sent, { status: 'unknown', error });

      const answer = await ledger.resolve('a', { status, note: 'it ran' });

      expect(answer).toMatchObject({ kind: 'resolved', row: { ...expected, finishedAt: start + 1 } });
      expect(answer.row?.outcome).toEqual(expected.outcome);
      expect(await ledger.resolve('a', { status, note: 'it ran' })).toEqual(answer);
      expect(await ledger.end(sent, done)).toEqual({ kind: 'lost', row: answer.row });
    },
  );

  test.for([done, failed])('do not settle a job that is not unknown: %j', async (outcome) => {
    const { ledger } = await makeLedger();
    await ledger.end(await send(ledger), outcome);
    const row = await ledger.read('a');

    const answers = [
      await ledger.resolve('a', { status: 'done', note: 'it ran' }),
      await ledger.resolve('none', { status: 'done', note: 'it ran' }),
    ];

    expect(answers).toEqual([
      { kind: 'refused', row },
      { kind: 'refused', row: undefined },
    ]);
  });

  test.for([done, { status: 'unknown' }] as const)('do not cancel a job that ended: %j', async (outcome) => {
    const { ledger } = await makeLedger();
    await ledger.end(await send(ledger), outcome);
    const row = await ledger.read('a');

    const answer = await ledger.cancel('a');

    expect(answer).toEqual({ kind: 'ended', row });
  });

  test('reopen a failed job, with a higher fence and the same day', async () => {
    const { ledger, clock } = await makeLedger();
    const first = await send(ledger);
    await ledger.end(first, failed);
    clock.nowMs += 48 * 60 * leaseMs;

    const answer = await ledger.reopen('a');
    const late = await ledger.end(first, done);
    const second = await claim(ledger);

    expect(answer).toMatchObject({ kind: 'reopened', row: { state: 'CLAIMED', attempts: 0, takeovers: 0 } });
    expect(late.kind).toBe('lost');
    expect(second).toMatchObject({ fence: 3, dt: '2026-11-21', createdAt: start, startedAt: clock.nowMs });
    expect(second).not.toHaveProperty('outcome');
    expect(second).not.toHaveProperty('finishedAt');
    expect(second).not.toHaveProperty('sentFence');
  });

  test('reopen a job that was cancelled before it arrived, for any content', async () => {
    const { ledger } = await makeLedger();
    await ledger.cancel('a');

    await ledger.reopen('a', { isNamed: true });

    expect(await claim(ledger)).toMatchObject({ ...request, state: 'CLAIMED', startedAt: start });
    expect(await ledger.read('a')).toMatchObject(request);
  });

  test.for([done, { status: 'unknown' }] as const)(
    'do not reopen a job that ended otherwise: %j',
    async (outcome) => {
      const { ledger } = await makeLedger();
      await ledger.end(await send(ledger), outcome);
      const row = await ledger.read('a');

      const answer = await ledger.reopen('a');

      expect(answer).toEqual({ kind: 'refused', row });
      expect(await ledger.read('a')).toEqual(row);
    },
  );

  test('do not reopen a job that is under way or missing', async () => {
    const { ledger } = await makeLedger();
    const held = await claim(ledger);

    const answers = [await ledger.reopen('a'), await ledger.reopen('none')];

    expect(answers).toEqual([
      { kind: 'refused', row: held },
      { kind: 'refused', row: undefined },
    ]);
  });

  test('list all jobs, and no other rows of the table', async () => {
    const { ledger, table } = await makeLedger();
    await ledger.claim(request, { leaseMs });
    await ledger.claim({ ...request, id: 'b:c.d_e-f' }, { leaseMs });
    await table.put({ partition: 'text#a', sort: '-' }, {}, { expected: null, token: 't' });

    const ids = (await Array.fromAsync(ledger.list())).map(({ id }) => id);

    expect(ids.toSorted()).toEqual(['a', 'b:c.d_e-f']);
  });

  test('get an error for a row that is not a job', async () => {
    const { ledger, table } = await makeLedger();
    await table.put({ partition: 'job#a', sort: '-' }, { id: 'a' }, { expected: null, token: 't' });

    await expect(ledger.read('a')).rejects.toMatchObject({
      name: 'LedgerError',
      message: 'read job a: expected a job row, got one with an invalid state',
    });
  });

  test('find rows for 30 days after the last write, unless set otherwise', async () => {
    const { table, clock } = await makeLedger();
    const expiries: (number | undefined)[] = [];
    const spied: Table = {
      ...table,
      put: (key, row, options) => {
        expiries.push(options.expiresAtMs);
        return table.put(key, row, options);
      },
    };
    const now = () => clock.nowMs;

    const held = await claim(createLedger({ table: spied, now }));
    clock.nowMs += 1_000;
    await createLedger({ table: spied, now, expireAfterMs: 5_000 }).end(held, done);

    expect(expiries).toEqual([start + 30 * 86_400_000, start + 6_000]);
  });
}

/** A table that logs what is requested of it: `hold` stops a write until it is released. */
function watchedTable(table: Table) {
  const requests: string[] = [];
  const watched: Table = {
    ...table,
    async get(key) {
      requests.push('get');
      return table.get(key);
    },
    async put(key, row, options) {
      requests.push('put');
      return table.put(key, row, options);
    },
  };
  return { table: watched, requests };
}

function describeRequests(makeTable: () => Promise<Table>): void {
  test('are three writes and no reads from its claim to its end', async () => {
    const { table, requests } = watchedTable(await makeTable());
    const ledger = createLedger({ table });

    const claimed = await ledger.claim(request, { leaseMs, isNew: true });
    if (claimed.kind !== 'claimed') throw new Error('expected a claim');
    await ledger.sent(claimed.claim, { mustLastMs: 1_000 });
    const ended = await ledger.end(claimed.claim, done);

    expect(ended).toMatchObject({ kind: 'ended', row: { state: 'DONE', attempts: 1 } });
    expect(requests).toEqual(['put', 'put', 'put']);
  });

  test('are two writes if the claim records the send', async () => {
    const { table, requests } = watchedTable(await makeTable());
    const ledger = createLedger({ table });

    const claimed = await ledger.claim(request, { leaseMs, isNew: true, by: 'one', sends: true });
    if (claimed.kind !== 'claimed') throw new Error('expected a claim');
    const ended = await ledger.end(claimed.claim, done);

    expect(claimed.claim).toMatchObject({ state: 'SENT', fence: 1, attempts: 1, sentFence: 1 });
    expect(ended).toMatchObject({ kind: 'ended', row: { state: 'DONE', attempts: 1 } });
    expect(requests).toEqual(['put', 'put']);
  });

  test('taken for new although it has ended are one write that is refused', async () => {
    const { table, requests } = watchedTable(await makeTable());
    const ledger = createLedger({ table });
    await ledger.end(await claim(ledger), done);
    requests.length = 0;

    const again = await ledger.claim(request, { leaseMs, isNew: true });

    expect(again).toMatchObject({ kind: 'ended', row: { state: 'DONE' } });
    expect(requests).toEqual(['put']);
  });

  test('whose row others have changed meanwhile decide from the row that is there', async () => {
    const table = await makeTable();
    const [ours, theirs] = [createLedger({ table }), createLedger({ table })];
    const held = await claim(ours);
    await theirs.cancel('a');

    const sent = await ours.sent(held, { mustLastMs: 1_000 });
    const ended = await ours.end(held, done);

    const row = { state: 'FAILED', outcome: { error: { kind: 'cancelled' } } };
    expect(sent).toMatchObject({ kind: 'lost', row });
    expect(ended).toMatchObject({ kind: 'lost', row });
  });

  test('that a remembered row would refuse are decided from the row that is there', async () => {
    const table = await makeTable();
    const clock = { nowMs: start };
    const now = () => clock.nowMs;
    const [ours, renewing] = [createLedger({ table, now }), createLedger({ table, now })];
    const held = await claim(ours);
    clock.nowMs += leaseMs - 500;
    await renewing.renew({ ...held }, leaseMs);

    const sent = await ours.sent(held, { mustLastMs: 1_000 });

    expect(sent).toMatchObject({ kind: 'sent' });
  });
}

function describeLateOutcomes(makeLedger: MakeLedger): void {
  const findOutcome = (outcome: Outcome | undefined) => {
    const asked: unknown[] = [];
    const find = async (sent: unknown) => {
      asked.push(sent);
      return outcome;
    };
    return { asked, find };
  };

  test.each([done, failed])('ends a send whose lease expired, however it ended: %j', async (outcome) => {
    const { ledger, clock } = await makeLedger();
    await send(ledger);
    clock.nowMs += leaseMs;
    const { asked, find } = findOutcome(outcome);

    const answer = await ledger.claim(request, { leaseMs, findOutcome: find });

    expect(answer).toMatchObject({ kind: 'ended', row: { outcome, attempts: 1 } });
    expect(await ledger.read('a')).toMatchObject({ outcome });
    expect(asked).toEqual([{ id: 'a', createdAt: start, fence: 1 }]);
  });

  test('saves a send that might have been repeated', async () => {
    const { ledger, clock } = await makeLedger();
    await send(ledger, true);
    clock.nowMs += leaseMs;

    const answer = await ledger.claim(request, {
      leaseMs,
      mayRepeat: true,
      findOutcome: findOutcome(done).find,
    });

    expect(answer).toMatchObject({ kind: 'ended', row: { state: 'DONE', fence: 1 } });
  });

  test('makes an unknown job done, but never failed', async () => {
    const { ledger, clock } = await makeLedger();
    await send(ledger);
    clock.nowMs += leaseMs;
    await ledger.claim(request, { leaseMs });

    const asFailed = await ledger.claim(request, { leaseMs, findOutcome: findOutcome(failed).find });
    const asDone = await ledger.claim(request, { leaseMs, findOutcome: findOutcome(done).find });

    expect(asFailed).toMatchObject({ kind: 'ended', row: { state: 'UNKNOWN' } });
    expect(asDone).toMatchObject({ kind: 'ended', row: { state: 'DONE', finishedAt: start + leaseMs + 1 } });
  });

  test('is not asked for where nothing was sent, or somebody has the job', async () => {
    const { ledger, clock } = await makeLedger();
    const { asked, find } = findOutcome(done);
    await claim(ledger);
    clock.nowMs += leaseMs;

    const takenOver = await ledger.claim(request, { leaseMs, findOutcome: find });
    const busy = await ledger.claim(request, { leaseMs, findOutcome: find });

    expect([takenOver.kind, busy.kind]).toEqual(['claimed', 'busy']);
    expect(asked).toEqual([]);
  });
}
