import { describe, expect, test } from 'vitest';
import type { Claim } from '../../../lib/jobs/ledger/job-row.ts';
import { createLedger, type Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import { renewLease } from '../../../lib/jobs/open-worker.ts';
import { createVirtualClock } from '../../pace/virtual-clock.ts';
import { createMemoryTable } from '../../table/memory-table.ts';

const request = { id: 'a', type: 'snapshot', contentHash: 'hash', sender: 'me' };
const leaseMs = 30_000;

/** A claimed job on a clock that moves only when it is run. */
async function claimed() {
  const clock = createVirtualClock();
  const ledger = createLedger({ table: createMemoryTable(), now: clock.now });
  const answer = await ledger.claim(request, { leaseMs });
  if (answer.kind !== 'claimed') throw new Error('expected a claim');
  return { clock, ledger, claim: answer.claim };
}

describe('a renewed lease', () => {
  test('lasts as long as the work, and is renewed after each third of its length', async () => {
    const { clock, ledger, claim } = await claimed();
    const renewedAt: number[] = [];
    const spied = {
      renew: (...all: Parameters<Ledger['renew']>) => {
        renewedAt.push(clock.now());
        return ledger.renew(...all);
      },
    };

    await using renewal = renewLease({ ledger: spied, claim, leaseMs, ...clock });
    await clock.run(45_000);

    expect(renewedAt).toEqual([10_000, 20_000, 30_000, 40_000]);
    expect(renewal.signal.aborted).toBe(false);
    expect((await ledger.read('a'))?.leaseUntilMs).toBe(70_000);
  });

  test('is not renewed after the work', async () => {
    const { clock, ledger, claim } = await claimed();
    {
      await using _ = renewLease({ ledger, claim, leaseMs, ...clock });
      await clock.run(15_000);
    }

    await clock.run(100_000);

    expect((await ledger.read('a'))?.leaseUntilMs).toBe(40_000);
  });

  test('reports at the next renewal that another process has the job', async () => {
    const { clock, ledger, claim } = await claimed();
    await using renewal = renewLease({ ledger, claim, leaseMs, ...clock });
    await ledger.cancel('a');

    await clock.run(10_000);

    expect(renewal.signal.reason).toMatchObject({ name: 'LeaseLostError' });
    expect(String(renewal.signal.reason)).toContain(
      'renew the lease of job a: another worker has the job, which is FAILED',
    );
  });

  test('is renewed again after an error', async () => {
    const { clock, ledger, claim } = await claimed();
    let calls = 0;
    const flaky = {
      renew: async (holder: Pick<Claim, 'id' | 'fence'>, ms: number) => {
        calls += 1;
        if (calls < 2) throw new Error('no response');
        return ledger.renew(holder, ms);
      },
    };
    await using renewal = renewLease({ ledger: flaky, claim, leaseMs, ...clock });

    await clock.run(25_000);

    expect(renewal.signal.aborted).toBe(false);
    expect((await ledger.read('a'))?.leaseUntilMs).toBe(50_000);
  });

  test('is lost when it expires, with the error that prevented its renewal', async () => {
    const { clock, claim } = await claimed();
    const cause = new Error('no response');
    const failing = {
      renew: async () => {
        throw cause;
      },
    };
    await using renewal = renewLease({ ledger: failing, claim, leaseMs, ...clock });

    await clock.run(29_999);
    const before = renewal.signal.aborted;
    await clock.run(30_000);

    expect(before).toBe(false);
    expect(renewal.signal.reason).toMatchObject({ name: 'LeaseLostError', cause });
  });

  test('is lost when it expires while a renewal hangs', async () => {
    const { clock, claim } = await claimed();
    const hanging = { renew: () => new Promise<never>(() => {}) };
    const renewal = renewLease({ ledger: hanging, claim, leaseMs, ...clock });

    await clock.run(30_000);

    expect(renewal.signal.reason).toMatchObject({ message: 'renew the lease of job a: it expired' });
  });

  test('is not lost after the work, even if the last renewal finds the job cancelled', async () => {
    const { clock, ledger, claim } = await claimed();
    const log: string[] = [];
    const slow = {
      async renew(...given: Parameters<Ledger['renew']>) {
        await clock.sleep(5_000);
        log.push('renewal ends');
        return ledger.renew(...given);
      },
    };
    const renewal = renewLease({ ledger: slow, claim, leaseMs, ...clock });
    await clock.run(12_000);
    await ledger.cancel('a');

    const stopped = renewal[Symbol.asyncDispose]().then(() => log.push('stopped'));
    await clock.run();
    await stopped;

    expect(log).toEqual(['renewal ends', 'stopped']);
    expect(renewal.signal.aborted).toBe(false);
  });
});
