import { describe, expect, test } from 'vitest';
import type { FleetSlots } from '../../lib/pace/fleet-slots.ts';
import { momentOf } from '../../lib/pace/moment.ts';
import type { Slot } from '../../lib/pace/pace.ts';
import { PaceWaitError } from '../../lib/pace/pace-wait-error.ts';
import { type SafeSlotsOptions, withSafeRate } from '../../lib/pace/safe-slots.ts';
import type { Demand } from '../../lib/pace/slots.ts';
import { noTally } from '../../lib/pace/tally.ts';
import { TableError } from '../../lib/table/table-error.ts';
import { createVirtualClock } from './virtual-clock.ts';

const demand: Demand = { waiting: 1, queued: 0, arrived: 1, concurrency: 8, latencyMs: 20, leadMs: 0 };
const noResponse = new TableError('try', { kind: 'busy', code: 'ThrottlingException' });

type Given = Partial<Pick<SafeSlotsOptions, 'safeRate' | 'workers' | 'maxWaitMs'>> & {
  readonly lastSeen?: ReturnType<FleetSlots['lastSeen']>;
  readonly fleet?: Partial<FleetSlots>;
};

/** One of four workers, which may send one request a second while the table is away: at first it is. */
function createWorker({
  lastSeen = { slotMs: undefined, lineEndMs: undefined },
  fleet = {},
  ...limits
}: Given = {}) {
  const clock = createVirtualClock();
  const state = { isAway: true };
  const log: unknown[] = [];
  const reach = async <T>(act: () => T): Promise<T> => {
    if (state.isAway) throw noResponse;
    return act();
  };
  const fleetSlot: Slot = { atMs: -1, waitedMs: 0, incidents: 0, untilMs: 9 };
  const slots = withSafeRate({
    safeRate: 1,
    workers: 4,
    maxWaitMs: Number.POSITIVE_INFINITY,
    ...limits,
    clock,
    onSafeRate: () => log.push('safe rate'),
    onFleetRate: () => log.push('fleet rate'),
    fleet: {
      take: () => reach(() => fleetSlot),
      approach: () => reach(() => void log.push('approaches')),
      reserve: () => reach(() => void log.push('reserves')),
      rejoin: ({ since, ...absence }) => reach(() => void log.push({ since: since(), ...absence })),
      throttled: (slot, retryAfterMs) =>
        reach(() => void log.push({ throttledAtMs: slot.atMs, retryAfterMs })),
      giveBack: (slot) => void log.push(`gives back ${slot.atMs}`),
      ended: (slot, succeeded) => void log.push(`ended ${slot.atMs} ${succeeded}`),
      record: (tally) => void log.push(tally),
      lastSeen: () => lastSeen,
      dueAtMs: (ahead) => 700 + ahead,
      counts: () => ({ ...noTally, granted: 3, effectiveRate: 10 }),
      ...fleet,
    },
  });
  const request = () => ({ calledAt: momentOf(clock), signal: undefined, demand: () => demand });
  const take = async () => {
    const taken = slots.take(request()).then(
      (slot) => ({ slot, error: undefined }),
      (error: unknown) => ({ slot: undefined, error }),
    );
    await clock.run();
    return taken;
  };
  const approach = async () => {
    const ahead = () => ({ calls: 0, forMs: Number.POSITIVE_INFINITY });
    const [near] = await Promise.allSettled([
      slots.approach({ ...request(), ahead, leadMs: () => 0 }),
      clock.run(),
    ]);
    if (near.status === 'rejected') throw near.reason;
    return clock.now();
  };
  const pass = async (ms: number) => {
    const slept = clock.sleep(ms);
    await clock.run();
    await slept;
  };
  const takeLog = () => log.splice(0);
  return { slots, state, clock, request, take, approach, pass, takeLog, fleetSlot };
}

describe('while the table responds', () => {
  test('slots are those of the fleet', async () => {
    const { slots, state, take, approach, takeLog, fleetSlot } = createWorker();
    state.isAway = false;

    const { slot } = await take();
    await approach();
    slots.giveBack(fleetSlot);
    slots.ended(fleetSlot, true);
    await slots.throttled(fleetSlot, 7_000);

    expect(slot).toBe(fleetSlot);
    expect(slots.dueAtMs(2)).toBe(702);
    expect(slots.counts()).toMatchObject({ granted: 3, effectiveRate: 10 });
    expect(takeLog()).toEqual([
      'approaches',
      'gives back -1',
      'ended -1 true',
      { throttledAtMs: -1, retryAfterMs: 7_000 },
    ]);
  });

  test('any other error is thrown, and begins nothing', async () => {
    const defect = () => Promise.reject(new TypeError('a defect'));
    const { slots, take, approach, takeLog, fleetSlot } = createWorker({
      fleet: { take: defect, approach: defect, throttled: defect },
    });

    expect((await take()).error).toMatchObject({ message: 'a defect' });
    await expect(approach()).rejects.toThrow('a defect');
    await expect(slots.throttled(fleetSlot, 1)).rejects.toThrow('a defect');
    expect(takeLog()).toEqual([]);
  });
});

describe('when the table goes away, slots', () => {
  test('begin after an interval if the process had none, and are counted', async () => {
    const { slots, take, takeLog } = createWorker();

    const first = await take();
    const second = await take();

    expect([first.slot?.atMs, second.slot?.atMs]).toEqual([995, 2_005]);
    expect(slots.counts()).toMatchObject({ granted: 3, effectiveRate: 1 });
    expect(takeLog()).toEqual([
      'safe rate',
      { granted: 1, used: 1, safeRate: 1, waitedMs: 995 },
      { granted: 1, used: 1, safeRate: 1, waitedMs: 1_010 },
    ]);
  });

  test.each([
    [
      'at twice the time of the last slot, once others have used up theirs',
      { slotMs: 0, lineEndMs: 3_000 },
      {},
      3_995,
    ],
    ['later by twice the time of a later slot', { slotMs: 300, lineEndMs: 3_000 }, {}, 4_595],
    ['as if the line ended now, if it has ended', { slotMs: -8_300, lineEndMs: -8_000 }, {}, 1_395],
    ['or its end was never seen', { slotMs: -8_300, lineEndMs: undefined }, {}, 1_395],
    ['later if more workers hold slots', { slotMs: 0, lineEndMs: 3_000 }, { workers: 9 }, 4_995],
    ['but not for more than ten of them', { slotMs: 0, lineEndMs: 3_000 }, { workers: 50 }, 5_995],
    ['later if slots are long', { slotMs: 0, lineEndMs: 1_600 }, { workers: 2, safeRate: 0.5 }, 3_995],
    [
      'but not later than they are long',
      { slotMs: 0, lineEndMs: 1_400 },
      { workers: 2, safeRate: 0.5 },
      1_995,
    ],
    ['at most 10 s and the slots of others later', { slotMs: 0, lineEndMs: 900_000 }, {}, 10_995],
  ] as const)('begin %s', async (_, lastSeen, limits, atMs) => {
    const { take } = createWorker({ lastSeen, ...limits });

    expect((await take()).slot?.atMs).toBe(atMs);
  });

  test('are lost if they pass unused, and are given back without a word to the fleet', async () => {
    const { slots, take, pass, takeLog } = createWorker();
    const { slot } = await take();
    await pass(2_500);
    takeLog();

    if (slot !== undefined) slots.giveBack(slot);

    expect(takeLog()).toEqual([]);
    expect((await take()).slot?.atMs).toBe(4_025);
  });

  test('are refused to a call that may not wait for one', async () => {
    const { take } = createWorker({ maxWaitMs: 500 });

    expect((await take()).error).toBeInstanceOf(PaceWaitError);
  });

  test('are approached, too', async () => {
    const { approach, takeLog } = createWorker();

    expect(await approach()).toBe(995);
    expect(takeLog()).toEqual(['safe rate']);
  });

  test('are due at any time, so that every call can try the table', async () => {
    const { slots, take, clock } = createWorker();
    await take();

    expect(slots.dueAtMs(5)).toBe(clock.now());
  });
});

describe('every ten seconds', () => {
  test('the table is tried by a call that would wait longer for its slot, and reached', async () => {
    const { slots, state, request, clock, pass, takeLog, fleetSlot } = createWorker({
      safeRate: 0.05,
      maxWaitMs: 19_995,
    });
    await pass(2_000);
    const taking = slots.take(request());
    await clock.run(5_000);
    state.isAway = false;
    await clock.run();

    const slot = await taking;

    expect(clock.now()).toBe(12_000);
    expect(slot).toBe(fleetSlot);
    expect(takeLog()).toEqual([
      'safe rate',
      { since: 2_000, outsideRate: 1, lastsMs: 12_000 },
      'reserves',
      'fleet rate',
    ]);
  });

  test.each([
    ['as many as fit into a second for each worker', { safeRate: 1.5, workers: 5 }, 10],
    ['no two of one second where each has less than one', { safeRate: 0.5, workers: 5 }, 3],
    ['one of each where each has one', { safeRate: 1, workers: 5 }, 5],
  ])('the line then leaves room for %s', async (_, limits, outsideRate) => {
    const { state, take, approach, pass, takeLog } = createWorker(limits);
    await take();
    state.isAway = false;
    await pass(10_000);
    takeLog();

    await approach();

    expect(takeLog()).toEqual([
      { since: 0, outsideRate, lastsMs: 12_000 },
      'reserves',
      'fleet rate',
      'approaches',
    ]);
  });

  test('the table is tried again if it does not respond, and not before', async () => {
    const tried: number[] = [];
    const { take, approach, pass, clock } = createWorker({
      fleet: {
        rejoin() {
          tried.push(clock.now());
          return Promise.reject(noResponse);
        },
      },
    });
    await take();
    await pass(10_000 - clock.now());

    await take();
    await take();
    await approach();
    await pass(20_000 - clock.now());
    await approach();

    expect(tried).toEqual([10_000, 20_000]);
  });

  test('is soon enough: until then nothing is tried', async () => {
    const { state, take, pass, takeLog } = createWorker();
    await take();
    state.isAway = false;
    await pass(9_999 - 995);
    takeLog();

    await take();

    expect(takeLog()).toMatchObject([{ safeRate: 1 }]);
  });

  test.each([
    ['a refusal is a response', new PaceWaitError(60_000, 5_000), ['fleet rate']],
    ['any other error is thrown', new TypeError('a defect'), []],
  ])('%s', async (_, error, expected) => {
    const { state, take, pass, takeLog } = createWorker({ fleet: { reserve: () => Promise.reject(error) } });
    await take();
    state.isAway = false;
    await pass(10_000);
    takeLog();

    const taken = await take();

    expect(taken.error).toBe(error instanceof PaceWaitError ? undefined : error);
    expect(takeLog().slice(1)).toEqual(expected);
  });
});

describe('a 429', () => {
  test('that cannot be reported stops this process, and is reported with what is left of it', async () => {
    const { slots, state, take, pass, takeLog, fleetSlot } = createWorker();

    await slots.throttled(fleetSlot, 60_000);
    await pass(15_000);
    state.isAway = false;
    await take();

    expect(takeLog()).toEqual([
      'safe rate',
      expect.objectContaining({ since: 0 }),
      { throttledAtMs: 15_000, retryAfterMs: 45_000 },
      'reserves',
      'fleet rate',
    ]);
  });

  test('is reported once', async () => {
    const { slots, state, take, pass, takeLog, fleetSlot } = createWorker();
    await slots.throttled(fleetSlot, 60_000);
    await pass(10_000);
    state.isAway = false;
    await take();
    state.isAway = true;
    await slots.throttled(fleetSlot, 1).catch(() => undefined);
    state.isAway = false;
    await pass(10_000);
    takeLog();

    await take();

    expect(takeLog()).toEqual([expect.objectContaining({ since: 10_000 }), 'reserves', 'fleet rate']);
  });

  test('that has passed is not reported', async () => {
    const { slots, state, take, pass, takeLog, fleetSlot } = createWorker();
    await slots.throttled(fleetSlot, 10_000);
    await pass(10_000);
    state.isAway = false;

    await take();

    expect(takeLog().slice(1)).toEqual([expect.objectContaining({ since: 0 }), 'reserves', 'fleet rate']);
  });

  test('during an outage stops this process until a probe of its own is accepted', async () => {
    const { slots, take, takeLog } = createWorker();
    const { slot } = await take();
    if (slot === undefined) throw new Error('expected a slot');
    takeLog();

    await slots.throttled(slot, 3_000);
    const probe = await take();
    if (probe.slot !== undefined) slots.ended(probe.slot, true);
    const after = await take();

    expect(takeLog()[0]).toEqual({ throttled: 1 });
    expect(probe.slot?.atMs).toBeCloseTo(3_990, 0);
    expect(slots.counts().effectiveRate).toBeCloseTo(0.7, 9);
    expect((after.slot?.atMs ?? 0) - (probe.slot?.atMs ?? 0)).toBeCloseTo(1_000 / 0.7, 0);
  });
});
