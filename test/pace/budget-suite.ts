import { describe, expect, test } from 'vitest';
import { type BudgetItem, emptyBudget, type Reservation } from '../../lib/pace/budget.ts';
import { noTally } from '../../lib/pace/tally.ts';

/** What every item of a budget promises, in DynamoDB or in memory. `makeItem` returns an unused one. */
export function budgetSuite(name: string, makeItem: () => Promise<BudgetItem> | BudgetItem): void {
  const nowMs = 1_795_276_800_000;
  const idle: Reservation = {
    kind: 'idle',
    fromMs: nowMs,
    latestMs: nowMs + 20_000,
    blockMs: 242.4,
    incidents: 0,
    rate: 50,
    tally: { ...noTally, granted: 12 },
  };
  const busy: Reservation = { ...idle, kind: 'busy' };
  const incident = { incidents: 0, fromMs: nowMs + 7_000, lowered: { rate: 35, atMs: nowMs } };

  describe(name, () => {
    test('is empty at first', async () => {
      const item = await makeItem();

      expect(await item.read()).toEqual(emptyBudget);
    });

    test('the first slots begin when they can be used', async () => {
      const item = await makeItem();

      const result = await item.reserve(idle);

      expect(result).toMatchObject({ kind: 'written', budget: { tatMs: nowMs + 242.4, rate: 50 } });
      expect(result).toEqual({ kind: 'written', budget: await item.read() });
    });

    test('a busy line grows at its end, and no part of it is given out twice', async () => {
      const item = await makeItem();
      await item.reserve(idle);

      const results = await Promise.all([item.reserve(busy), item.reserve(busy), item.reserve(busy)]);

      const ends = results.map((result) => (result.kind === 'written' ? result.budget.tatMs : 0));
      expect(ends.map((end) => (end ?? 0) - nowMs).toSorted((a, b) => a - b)).toEqual([
        expect.closeTo(484.8, 2),
        expect.closeTo(727.2, 2),
        expect.closeTo(969.6, 2),
      ]);
    });

    test('only one of several concurrent reservations gets an idle line', async () => {
      const item = await makeItem();

      const results = await Promise.all([item.reserve(idle), item.reserve(idle), item.reserve(idle)]);

      expect(results.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'refused', 'written']);
    });

    test.each([
      ['busy, where the budget is unused', undefined, busy],
      ['busy, where the line has ended', idle, { ...busy, fromMs: nowMs + 300 }],
      ['idle, where the line has not ended', idle, { ...idle, fromMs: nowMs + 200 }],
      ['idle, where the line ends at that very time', idle, { ...idle, fromMs: nowMs + 242.4 }],
      ['busy, where the line ends too late', idle, { ...busy, latestMs: nowMs + 242 }],
      ['for another number of incidents', idle, { ...busy, incidents: 1 }],
    ] as const)('a refusal changes nothing: %s', async (_, before, refused) => {
      const item = await makeItem();
      if (before !== undefined) await item.reserve(before);
      const stood = await item.read();

      const result = await item.reserve(refused);

      expect(result).toEqual({ kind: 'refused' });
      expect(await item.read()).toEqual(stood);
    });

    test('the line may end exactly as late as allowed, or without a limit', async () => {
      const item = await makeItem();
      await item.reserve(idle);

      const justInTime = await item.reserve({ ...busy, latestMs: nowMs + 242.4 });
      const patient = await item.reserve({ ...busy, latestMs: Number.POSITIVE_INFINITY });

      expect([justInTime.kind, patient.kind]).toEqual(['written', 'written']);
    });

    test('an idle line begins where it can be used, not where it ended', async () => {
      const item = await makeItem();
      await item.reserve(idle);

      const result = await item.reserve({ ...idle, fromMs: nowMs + 5_000 });

      expect(result).toMatchObject({ budget: { tatMs: nowMs + 5_242.4 } });
    });

    test('a 429 restarts the line, and is reported once', async () => {
      const item = await makeItem();
      await item.reserve(idle);

      const first = await item.lower(incident);
      const again = await item.lower({ ...incident, fromMs: nowMs + 900_000 });

      expect(first).toMatchObject({
        kind: 'written',
        budget: { tatMs: nowMs + 7_000, incidents: 1, lowered: { rate: 35, atMs: nowMs } },
      });
      expect(again).toEqual({ kind: 'refused' });
      expect(await item.read()).toMatchObject({ tatMs: nowMs + 7_000, incidents: 1 });
    });

    test('a worker that has not learned of a 429 reserves nothing after it', async () => {
      const item = await makeItem();
      await item.reserve(idle);
      await item.lower(incident);

      const unknowing = await item.reserve(busy);
      const knowing = await item.reserve({ ...busy, incidents: 1 });

      expect(unknowing).toEqual({ kind: 'refused' });
      expect(knowing).toMatchObject({ kind: 'written', budget: { tatMs: nowMs + 7_242.4, incidents: 1 } });
    });

    describe('while the platform refuses', () => {
      const probe: Reservation = {
        ...idle,
        kind: 'probe',
        incidents: 1,
        fromMs: nowMs + 7_000,
        nextProbeMs: nowMs + 8_000,
      };
      const restart: Reservation = {
        ...probe,
        kind: 'restart',
        probeMs: nowMs + 8_000,
        fromMs: nowMs + 7_050,
      };

      test('one of several concurrent probes leaves, and the line does not move', async () => {
        const item = await makeItem();
        await item.lower(incident);

        const results = await Promise.all([item.reserve(probe), item.reserve(probe), item.reserve(probe)]);

        expect(results.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'refused', 'written']);
        expect(await item.read()).toMatchObject({
          tatMs: nowMs + 7_000,
          lowered: { probeMs: nowMs + 8_000 },
          tally: { granted: 12 },
        });
      });

      test('the first success restarts the line, and ends the probing', async () => {
        const item = await makeItem();
        await item.lower(incident);
        await item.reserve(probe);

        const first = await item.reserve(restart);
        const second = await item.reserve(restart);
        const late = await item.reserve({ ...probe, probeMs: nowMs + 8_000 });

        expect(first).toMatchObject({
          budget: { tatMs: nowMs + 7_292.4, lowered: { rate: 35, succeededMs: nowMs + 7_050 } },
        });
        expect([second.kind, late.kind]).toEqual(['refused', 'refused']);
      });

      test('no success restarts the line while another probe is under way', async () => {
        const item = await makeItem();
        await item.lower(incident);
        await item.reserve(probe);
        await item.reserve({ ...probe, probeMs: nowMs + 8_000, nextProbeMs: nowMs + 9_000 });

        expect(await item.reserve(restart)).toEqual({ kind: 'refused' });
      });

      test('a 429 forgets the success before it, and all that it does not state', async () => {
        const item = await makeItem();
        const full = { rate: 35, atMs: nowMs, refused: 2, refusedAtMs: nowMs + 900 };
        await item.lower({ ...incident, lowered: { ...full, expectedMs: 800, probeMs: nowMs + 7_000 } });
        const stated = await item.read();
        await item.reserve({ ...restart, probeMs: nowMs + 7_000 });
        await item.lower({ ...incident, incidents: 1 });

        expect(stated.lowered).toEqual({ ...full, expectedMs: 800, probeMs: nowMs + 7_000 });
        expect((await item.read()).lowered).toEqual({ rate: 35, atMs: nowMs });
      });
    });

    test('a line that a wrong clock has moved begins again, without throttling, and once', async () => {
      const item = await makeItem();
      await item.reserve({ ...idle, fromMs: nowMs + 3_600_000 });
      await item.lower({
        incidents: 0,
        fromMs: nowMs + 3_600_000,
        lowered: { rate: 7, atMs: nowMs + 3_600_000 },
      });
      const stray: Reservation = { ...idle, kind: 'stray', incidents: 1, longestWaitMs: 20_000 };

      const result = await item.reserve(stray);
      const again = await item.reserve(stray);

      // Slots that were reserved before are void.
      const set = { tatMs: nowMs + 242.4, incidents: 2, lowered: undefined };
      expect(result).toMatchObject({
        kind: 'written',
        budget: { ...set, longestWaitMs: 20_000, longestWaitAtMs: stray.fromMs },
      });
      expect(again).toEqual({ kind: 'refused' });
    });

    test('a paused budget grants nothing until it is resumed', async () => {
      const item = await makeItem();

      const paused = await item.pause(nowMs);
      const whenIdle = await item.reserve(idle);
      const resumed = await item.resume();
      const after = await item.reserve(idle);
      await item.pause(nowMs);
      const whenBusy = await item.reserve(busy);

      expect([paused.pausedAtMs, resumed.pausedAtMs]).toEqual([nowMs, undefined]);
      expect([whenIdle.kind, after.kind, whenBusy.kind]).toEqual(['refused', 'written', 'refused']);
    });

    test('a reset forgets throttling, and voids what was reserved before', async () => {
      const item = await makeItem();
      await item.reserve(idle);
      await item.lower({
        ...incident,
        fromMs: nowMs + 900_000,
        lowered: { rate: 35, atMs: nowMs, refused: 3, refusedAtMs: nowMs, probeMs: nowMs + 9_000 },
      });

      const reset = await item.reset(nowMs + 1_000);
      const before = await item.reserve({ ...busy, incidents: 1 });
      const after = await item.reserve({ ...busy, incidents: 2 });

      expect(reset).toEqual({
        ...emptyBudget,
        tatMs: nowMs + 1_000,
        incidents: 2,
        rate: 50,
        tally: idle.tally,
      });
      expect(before).toEqual({ kind: 'refused' });
      expect(after).toMatchObject({ budget: { tatMs: nowMs + 1_242.4 } });
    });

    test('a cap stays until there is another', async () => {
      const item = await makeItem();

      const first = await item.cap(1.5);
      await item.reserve(idle);
      const reserved = await item.read();
      const second = await item.cap(40);

      expect([first.capRate, reserved.capRate, second.capRate]).toEqual([1.5, 1.5, 40]);
    });

    test('counts what each reservation reports', async () => {
      const item = await makeItem();
      const reported = { granted: 12, used: 11, wasted: 1, waitedMs: 300, throttled: 2 };

      await item.reserve({ ...idle, tally: reported });
      await item.reserve({ ...busy, tally: reported });

      expect((await item.read()).tally).toEqual({
        granted: 24,
        used: 22,
        wasted: 2,
        waitedMs: 600,
        throttled: 4,
      });
    });
  });
}
