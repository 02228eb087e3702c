import { expect, test } from 'vitest';
import { createFixedWindow, createSlidingWindow } from '../../lib/sandbox/platform/options.ts';
import { scaled } from '../scale.ts';
import { type FleetPlan, maxInASecond, type SimulatedWorker, simulateFleet } from './simulated-fleet.ts';

const MINUTE = 60_000;

type Limiter = ReturnType<typeof createSlidingWindow>;

/** A platform that applies these limiters one after another, with or without `Retry-After`. */
function refuseBy(
  limiter: (atMs: number) => Limiter,
  says: 'Retry-After' | 'nothing',
): NonNullable<FleetPlan['refuse']> {
  return (atMs) => {
    const decision = limiter(atMs).arrive(atMs);
    if (decision.kind === 'admitted') return undefined;
    return says === 'nothing' ? 'absent' : Math.ceil(decision.waitMs / 1000) * 1000;
  };
}

type Run = Awaited<ReturnType<typeof simulateFleet>>;

/** The used share of the limit between two times, and the share of calls that were refused. */
function usedOf({ departures }: Run, limit: number, [fromMs, untilMs]: readonly [number, number]) {
  const within = departures.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  const refused = within.filter((each) => each.refused).length;
  const used = (within.length - refused) / (limit * ((untilMs - fromMs) / 1000));
  return { used, refused: refused / within.length };
}

const fleetOf = (workers: number): readonly SimulatedWorker[] =>
  Array.from({ length: workers }, () => ({ maxWaitMs: 20_000 }));

const forms = {
  'any second': (limit: number) => createSlidingWindow(limit),
  'each second': (limit: number) => createFixedWindow(Math.round(limit), 1_000),
  'each ten seconds': (limit: number) => createFixedWindow(Math.round(limit * 10), 10_000),
  'each minute': (limit: number) => createFixedWindow(Math.round(limit * 60), MINUTE),
} as const;

const cases = [1, 3, 6, 10].flatMap((limit) =>
  (Object.keys(forms) as (keyof typeof forms)[]).flatMap((form) =>
    (['Retry-After', 'nothing'] as const).flatMap((says) =>
      [1, 8].map((workers) => ({ limit, form, says, workers })),
    ),
  ),
);

/** A sample of the cases, different each day; all of them in a full run. */
const picked = scaled(6, cases.length);
const first = Math.floor(Date.now() / 86_400_000) * picked;
const chosen = Array.from({ length: picked }, (_, at) => cases[(first + at * 11) % cases.length] ?? cases[0]);

test.each(chosen)(
  'with %o, a fleet at 10 a second uses 9/10 of the limit, and few calls get a 429',
  async (given) => {
    const { limit, form, says, workers } = given ?? {
      limit: 1,
      form: 'any second',
      says: 'nothing',
      workers: 1,
    };
    const limiter = forms[form](limit);

    const run = await simulateFleet({
      rate: 10,
      workers: fleetOf(workers),
      durationMs: 10 * MINUTE,
      refuse: refuseBy(() => limiter, says),
    });
    // The limit of a window is known after two complete windows.
    const knownMs = form === 'each minute' ? 4 * MINUTE : 2 * MINUTE;

    expect.soft(usedOf(run, limit, [2 * MINUTE, 10 * MINUTE]).used).toBeGreaterThan(0.9);
    // A limit without `Retry-After` is tried six times a minute while it is learned. Over a day the share is below one percent.
    const mayBeRefused = form === 'each minute' && says === 'nothing' ? 0.025 : 0.01;
    expect.soft(usedOf(run, limit, [knownMs, 10 * MINUTE]).refused).toBeLessThan(mayBeRefused);
    expect(maxInASecond(run.departures)).toBeLessThanOrEqual(10);
  },
);

test('a fleet adapts within minutes to a limit that falls and rises', async () => {
  const limits = [10, 3, 8].map((limit) => ({ limit, limiter: createSlidingWindow(limit) }));
  const limitAt = (atMs: number) => limits[Math.min(2, Math.floor(atMs / (10 * MINUTE)))] ?? limits[0];

  const run = await simulateFleet({
    rate: 10,
    workers: fleetOf(4),
    durationMs: 30 * MINUTE,
    refuse: refuseBy((atMs) => limitAt(atMs)?.limiter ?? createSlidingWindow(1), 'nothing'),
  });
  const shareIn = (limit: number, from: number) =>
    usedOf(run, limit, [from * MINUTE, (from + 4) * MINUTE]).used;

  expect([shareIn(10, 6), shareIn(3, 12), shareIn(8, 26)].map((share) => share > 0.9)).toEqual([
    true,
    true,
    true,
  ]);
});

test('a fleet that may rise to a ceiling sends 100,000 calls in less than 1.6 hours if it starts at 2 under a limit of 20', async () => {
  const limiter = createSlidingWindow(20);

  const run = await simulateFleet({
    rate: 2,
    ceiling: 50,
    workers: fleetOf(4),
    durationMs: scaled(20, 96) * MINUTE,
    refuse: refuseBy(() => limiter, 'nothing'),
  });
  const late = usedOf(run, 20, [10 * MINUTE, scaled(20, 96) * MINUTE]);
  const sent = run.departures.filter(({ refused }) => !refused).length;

  expect(late.used).toBeGreaterThan(0.9);
  expect(late.refused).toBeLessThan(0.01);
  expect(maxInASecond(run.departures.filter(({ atMs }) => atMs < 20_000))).toBeLessThanOrEqual(3);
  // In a full run: 100,000 calls in 96 minutes.
  expect(sent).toBeGreaterThan(scaled(14_000, 100_000));
});
