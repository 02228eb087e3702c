import { describe, expect, test } from 'vitest';
import { createLedger, type LedgerOptions } from '../../../lib/jobs/ledger/create-ledger.ts';
import type { Claim, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Table } from '../../../lib/table/table.ts';
import { createMemoryTable } from '../../table/memory-table.ts';

/* What the ledger requests of its table, and when; `ledger-suite.ts` has what its steps do. */

const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const leaseMs = 60_000;
const done: Outcome = { status: 'done', response: '1' };

/** A ledger whose clock stands still, over a table that logs what is requested. `afterPut`: what happens after a write. */
function createBench(options: Partial<LedgerOptions> = {}, afterPut?: (put: number) => Promise<void> | void) {
  const clock = { nowMs: 1_000 };
  const requests: string[] = [];
  const memory = createMemoryTable();
  const table: Table = {
    ...memory,
    get(key) {
      requests.push('get');
      return memory.get(key);
    },
    async put(...given) {
      requests.push('put');
      const written = await memory.put(...given);
      await afterPut?.(requests.length);
      return written;
    },
  };
  const ledger = createLedger({ table, now: () => clock.nowMs, ...options });
  return { ledger, table, memory, requests, clock };
}

async function claim(ledger: Ledger, isNew = true): Promise<Claim> {
  const answer = await ledger.claim(request, { leaseMs, isNew, mayRepeat: true });
  if (answer.kind !== 'claimed') throw new Error(`expected a claim, got ${answer.kind}`);
  return answer.claim;
}

describe('costs no read:', () => {
  test('each step of a holder', async () => {
    const { ledger, requests } = createBench();

    const held = await claim(ledger);
    await ledger.renew(held, 2 * leaseMs);
    await ledger.sent(held, { mustLastMs: 1_000 });
    await ledger.release(held);

    expect(requests).toEqual(['put', 'put', 'put', 'put']);
  });

  test('announcing a new job', async () => {
    const { ledger, requests } = createBench();

    await ledger.announce(request);

    expect(requests).toEqual(['put']);
    expect(await ledger.read('a')).toMatchObject({ ...request, state: 'CLAIMED', fence: 0 });
  });
});

describe('costs one read:', () => {
  test('a claim that does not say that the job is new', async () => {
    const { ledger, requests } = createBench();

    await claim(ledger, false);

    expect(requests).toEqual(['get', 'put']);
  });

  test('a step of a person', async () => {
    const { ledger, requests } = createBench();

    await ledger.cancel('a');

    expect(requests).toEqual(['get', 'put']);
  });

  test('a step of a holder whose claim another process made', async () => {
    const { ledger, table, requests } = createBench();
    const held = await claim(createLedger({ table }));
    requests.length = 0;

    await ledger.end({ id: held.id, fence: held.fence }, done);

    expect(requests).toEqual(['get', 'put']);
  });

  test('a claim of a job that somebody has, which writes nothing', async () => {
    const { ledger, requests } = createBench();
    await claim(ledger);
    requests.length = 0;

    const answer = await ledger.claim(request, { leaseMs });

    expect(answer.kind).toBe('busy');
    expect(requests).toEqual(['get']);
  });

  test('a send that would be too late, by a row that others may have changed', async () => {
    const { ledger, requests, clock } = createBench();
    const held = await claim(ledger);
    requests.length = 0;
    clock.nowMs += leaseMs;

    expect(await ledger.sent(held, { mustLastMs: 1 })).toEqual({ kind: 'too-late', leftMs: 0 });
    expect(requests).toEqual(['get']);
  });

  test('taking over a send whose outcome was looked for, though the job was taken for new', async () => {
    const { ledger, requests, clock } = createBench();
    await ledger.sent(await claim(ledger), { mustLastMs: 1_000 });
    requests.length = 0;
    clock.nowMs += leaseMs;

    const findOutcome = async () => undefined;
    const answer = await ledger.claim(request, { leaseMs, isNew: true, mayRepeat: true, findOutcome });

    expect(answer).toMatchObject({ kind: 'claimed', claim: { fence: 2 } });
    expect(requests).toEqual(['put', 'get', 'put']);
  });
});

describe('the time of the table', () => {
  test('is not asked for by default', async () => {
    const { ledger, requests } = createBench();

    await ledger.setTime();

    expect(requests).toEqual([]);
  });

  test('is asked for until it is known, by reading what is not there', async () => {
    const { ledger, requests } = createBench({ isTimeKnown: () => requests.length >= 2 });

    await ledger.setTime();
    await ledger.setTime();

    expect(requests).toEqual(['get', 'get']);
  });

  test('is asked for again if it is forgotten', async () => {
    let knownAt = 1;
    const { ledger, requests } = createBench({ isTimeKnown: () => requests.length >= knownAt });

    await ledger.setTime();
    knownAt = 2;
    await ledger.setTime();

    expect(requests).toEqual(['get', 'get']);
  });

  test('is asked for three times where responses do not say it, and never again', async () => {
    const { ledger, requests } = createBench({ isTimeKnown: () => false });

    await ledger.setTime();
    await ledger.setTime();

    expect(requests).toEqual(['get', 'get', 'get']);
  });
});

describe.each([0, -1, Number.POSITIVE_INFINITY, Number.NaN])('%d ms are refused', (ms) => {
  test('as a lease, as the time of a send, and as the time for which rows stay', async () => {
    const { ledger, table } = createBench();
    const held = await claim(ledger);

    await expect(ledger.claim(request, { leaseMs: ms })).rejects.toThrow(/^leaseMs: expected/);
    await expect(ledger.renew(held, ms)).rejects.toThrow(/^leaseMs: expected/);
    await expect(ledger.sent(held, { mustLastMs: ms })).rejects.toThrow(/^mustLastMs: expected/);
    expect(() => createLedger({ table, expireAfterMs: ms })).toThrow(/^expireAfterMs: expected/);
  });
});

test('a row whose outcome is not JSON, or is no outcome, is an error', async () => {
  const { ledger, memory } = createBench();
  const row = { ...(await claim(ledger)), state: 'DONE' };
  const put = (id: string, outcome: string) =>
    memory.put({ partition: `job#${id}`, sort: '-' }, { ...row, id, outcome }, { expected: null, token: id });

  await put('b', '{"status":');
  await put('c', '{"status":"?"}');

  await expect(ledger.read('b')).rejects.toThrow(
    'read job b: expected a job row, got one with an invalid outcome',
  );
  await expect(ledger.read('c')).rejects.toThrow('got one with an invalid outcome.status');
});
