import { describe, expect, test } from 'vitest';
import { type Pace, PaceWaitError } from '../../lib/pace/pace.ts';
import { createVirtualClock } from './virtual-clock.ts';

export type MakePace = (options: {
  readonly rate: number;
  readonly concurrency: number;
  readonly maxWaitMs?: number;
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}) => Pace;

/** Tests the promises of every pace, for one process or for a fleet. */
export function paceSuite(name: string, makePace: MakePace): void {
  const paced = (options: Pick<Parameters<MakePace>[0], 'rate' | 'concurrency' | 'maxWaitMs'>) => {
    const clock = createVirtualClock();
    return { clock, pace: makePace({ ...options, ...clock }) };
  };

  describe(name, () => {
    test('a pace lets the first call leave immediately and spaces the following calls', async () => {
      const { clock, pace } = paced({ rate: 2.5, concurrency: 8 });
      const leftAt: number[] = [];

      await clock.finish(Promise.all([1, 2, 3].map(() => pace.run(async () => leftAt.push(clock.now())))));

      expect(leftAt).toEqual([0, 395, 795]);
    });

    test('a pace never has more calls in flight than allowed', async () => {
      const { clock, pace } = paced({ rate: 100, concurrency: 3 });
      let [inFlight, max] = [0, 0];
      const call = async () => {
        inFlight += 1;
        max = Math.max(max, inFlight);
        await clock.sleep(1_000);
        inFlight -= 1;
      };

      await clock.finish(Promise.all(Array.from({ length: 20 }, () => pace.run(call))));

      expect(max).toBe(3);
    });

    test('a pace returns and throws as the call does', async () => {
      const { clock, pace } = paced({ rate: 100, concurrency: 3 });

      const returned = pace.run(async () => 'result');
      const thrown = pace.run(async () => {
        throw new Error('from the call');
      });
      await clock.finish(Promise.allSettled([returned, thrown]));

      await expect(returned).resolves.toBe('result');
      await expect(thrown).rejects.toThrow('from the call');
    });

    test('a pace stops all calls for as long as a 429 asks, and then lowers the rate', async () => {
      const { clock, pace } = paced({ rate: 9.5, concurrency: 8 });
      const leftAt: number[] = [];

      await clock.finish(pace.run(async (slot) => pace.throttled(slot, 7_000)));
      await clock.finish(Promise.all([1, 2].map(() => pace.run(async () => leftAt.push(clock.now())))));

      expect(leftAt[0]).toBeCloseTo(6_995);
      expect((leftAt[1] ?? 0) - (leftAt[0] ?? 0)).toBeCloseTo(1000 / (9.5 * 0.95));
      expect(pace.counts()).toMatchObject({ granted: 3, throttled: 1 });
    });

    test('a pace waits a second if a 429 does not say how long', async () => {
      const { clock, pace } = paced({ rate: 9.5, concurrency: 8 });

      await clock.finish(pace.run(async (slot) => pace.throttled(slot)));
      const next = await clock.finish(pace.run(async () => clock.now()));

      expect(next).toBeCloseTo(995);
    });

    test('a pace lowers the rate only once for all 429s of one incident, and returns to the full rate', async () => {
      const { clock, pace } = paced({ rate: 50, concurrency: 8 });
      const refused = async (slot: { readonly atMs: number; readonly waitedMs: number }) => {
        await clock.sleep(500);
        await pace.throttled(slot, 1_000);
      };
      const loop = async (untilMs: number) => {
        while (clock.now() < untilMs) await pace.run(() => clock.sleep(20));
      };

      await clock.finish(Promise.all([1, 2, 3, 4].map(() => pace.run(refused))));
      await clock.finish(loop(3_000));
      const after = pace.counts();
      await clock.finish(Promise.all([1, 2, 3].map(() => loop(180_000))));

      expect(after.throttled).toBe(4);
      expect(after.effectiveRate).toBeCloseTo(50 * 0.95, 0);
      expect(pace.counts().effectiveRate).toBe(50);
    });

    test('a pace refuses a call that would wait too long, without calling and without taking its slot', async () => {
      const { clock, pace } = paced({ rate: 9.5, concurrency: 8, maxWaitMs: 5_000 });
      let called = false;
      await clock.finish(pace.run(async (slot) => pace.throttled(slot, 60_000)));

      const refused = pace.run(async () => {
        called = true;
      });
      const expectation = expect(refused).rejects.toSatisfy(
        (error) => error instanceof PaceWaitError && error.waitMs > 59_000 && error.maxWaitMs === 5_000,
      );
      await clock.run();
      await expectation;

      expect(called).toBe(false);
      expect(pace.counts().granted).toBe(1);
    });

    test('a pace counts the slots that it granted and the calls that used them', async () => {
      const { clock, pace } = paced({ rate: 50, concurrency: 4 });

      await clock.finish(Promise.all(Array.from({ length: 30 }, () => pace.run(() => clock.sleep(10)))));
      const { granted, used, wasted, waitedMs, throttled, effectiveRate } = pace.counts();

      expect({ used, throttled, effectiveRate }).toEqual({ used: 30, throttled: 0, effectiveRate: 50 });
      expect(granted - wasted).toBe(30);
      expect(waitedMs).toBeGreaterThan(5_000);
    });

    test('a pace lets the call after a refused call leave on time, as if the refused call had never existed', async () => {
      const { clock, pace } = paced({ rate: 2.5, concurrency: 8, maxWaitMs: 500 });
      const leftAt: number[] = [];
      const call = async () => leftAt.push(clock.now());

      const first = pace.run(call);
      await clock.run(0);
      await first;
      const burst = Promise.allSettled([1, 2, 3, 4].map(() => pace.run(call)));
      await clock.run(600);
      await clock.finish(pace.run(call));
      const refused = (await burst).filter(({ status }) => status === 'rejected');

      expect(leftAt).toEqual([0, 395, 795]);
      expect(refused).toHaveLength(3);
      expect(pace.counts()).toMatchObject({ granted: 3, used: 3, wasted: 0 });
    });

    test('a pace rethrows the abort of a caller, and gives the slot to the next call', async () => {
      const { clock, pace } = paced({ rate: 2.5, concurrency: 8 });
      const stop = new AbortController();
      const reason = new Error('enough');
      const first = pace.run(async () => 'first');
      await clock.run(0);
      await first;

      const aborted = pace.run(async () => 'aborted', { signal: stop.signal });
      const next = pace.run(async () => clock.now());
      const expectation = expect(aborted).rejects.toBe(reason);
      await clock.run(100);
      stop.abort(reason);
      await clock.run();
      await expectation;

      await expect(next).resolves.toBe(395);
    });

    test('a pace lets a call prepare shortly before its slot, and takes the slot only when the call is ready', async () => {
      const { clock, pace } = paced({ rate: 2.5, concurrency: 8 });
      const log: string[] = [];
      const run = (name: string, prepareMs: number) =>
        pace.run(async () => void log.push(`${name} leaves at ${clock.now()}`), {
          prepare: async () => {
            log.push(`${name} prepares at ${clock.now()}`);
            await clock.sleep(prepareMs);
          },
        });

      await clock.finish(Promise.all([run('a', 100), run('b', 20), run('c', 5_000), run('d', 20)]));

      const at = (what: string) =>
        Number(
          log
            .find((line) => line.startsWith(what))
            ?.split(' ')
            .at(-1),
        );
      expect(at('a prepares')).toBe(0);
      expect([100, 395]).toContain(at('a leaves'));
      // Calls prepare only shortly before their slots, so that an earlier crash leaves nothing to undo.
      expect(at('b prepares')).toBeGreaterThanOrEqual(250);
      expect(at('c prepares')).toBeGreaterThanOrEqual(650);
      expect(at('d prepares')).toBeGreaterThanOrEqual(650);
      // A call that takes too long leaves its slot to the next one.
      expect(at('d leaves')).toBeLessThan(2_000);
      expect(at('c leaves')).toBeGreaterThan(5_000);
    });

    test('a pace counts no slot for a call whose preparation fails', async () => {
      const { clock, pace } = paced({ rate: 2.5, concurrency: 1 });

      const failing = pace.run(async () => 'left', { prepare: () => Promise.reject(new Error('no table')) });
      const expectation = expect(failing).rejects.toThrow('no table');
      const next = pace.run(async () => 'left');
      await clock.run();
      await expectation;

      await expect(next).resolves.toBe('left');
      expect(pace.counts().used).toBe(1);
    });

    test('a pace refuses calls that would wait too long behind other calls immediately, not after they have waited', async () => {
      const { clock, pace } = paced({ rate: 0.95, concurrency: 30, maxWaitMs: 5_000 });
      const refusedAt: number[] = [];
      const call = () => pace.run(async () => 'left').catch(() => void refusedAt.push(clock.now()));

      await clock.finish(Promise.all(Array.from({ length: 20 }, call)));

      expect(refusedAt.length).toBeGreaterThan(10);
      expect(Math.max(...refusedAt)).toBeLessThan(1_000);
    });

    test('a pace refuses a call that has prepared if a 429 then delays its slot too much', async () => {
      const { clock, pace } = paced({ rate: 9.5, concurrency: 8, maxWaitMs: 5_000 });
      const log: string[] = [];
      const refuse = () => pace.run(async (slot) => pace.throttled(slot, 60_000));

      const prepared = pace.run(async () => void log.push('left'), {
        prepare: async () => {
          log.push('prepared');
          await refuse();
        },
      });
      await expect(clock.finish(prepared)).rejects.toBeInstanceOf(PaceWaitError);

      expect(log).toEqual(['prepared']);
    });

    test('an aborted reservation of a slot does not run concurrently with the next one', async () => {
      const { clock, pace } = paced({ rate: 2.5, concurrency: 1 });
      let [inFlight, max] = [0, 0];
      const stop = new AbortController();
      const call = async () => {
        inFlight += 1;
        max = Math.max(max, inFlight);
        await clock.sleep(100);
        inFlight -= 1;
      };

      const stopped = pace.run(call, { signal: stop.signal });
      await clock.run(50);
      stop.abort(new Error('enough'));
      await clock.finish(Promise.allSettled([stopped, pace.run(call)]));

      expect(max).toBe(1);
    });

    test('an aborted call never leaves', async () => {
      const { pace } = paced({ rate: 2, concurrency: 1 });
      const reason = new Error('before it began');

      const call = pace.run(async () => 'left', { signal: AbortSignal.abort(reason) });

      await expect(call).rejects.toBe(reason);
    });
  });
}
