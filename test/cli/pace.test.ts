import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Budget, emptyBudget } from '../../lib/pace/budget.ts';
import { openBudget } from '../../lib/pace/stored-budget.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { startAws } from '../local-aws/services/start-aws.ts';
import { learnedTo, refusedAt } from '../pace/throttled.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
let hosts = 0;
let host: string;

const aws = await startAws({ tables: ['platform-sync'] });

afterAll(() => aws.close());

beforeEach(() => {
  hosts += 1;
  host = `host-${hosts}.example.com`;
});

async function pace(flags: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return runCommand(['pace', ...flags], {
    PLATFORM_BASE_URL: `https://${host}`,
    SYNC_STORE: folder.path,
    SYNC_TABLE: 'platform-sync',
    ...aws.settings,
    ...environment,
  });
}

async function set(some: Partial<Budget>) {
  const item = await openBudget({ table: 'platform-sync', host, environment: aws.settings, attempts: 5 });
  await item.change('set', (budget) => ({ ...budget, ...some }));
}

const used: Partial<Budget> = {
  tatMs: 1_100,
  rate: 50,
  tally: { ...emptyBudget.tally, granted: 1_200, used: 1_190, wasted: 10, waitedMs: 61_000, throttled: 2 },
};

test('pace shows the budget and what the fleet has used of it', async () => {
  await set(used);

  const { code, out } = await pace([]);

  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    `${host}: not paused`,
    'rate: 50 a second',
    'wait: 0.0 s for a call made now',
    'slots: 1,200 granted; of those reported so far, 1,190 used and 10 wasted',
    'a process reports its slots when it reserves more, so its last slots are never reported',
    'calls: waited 61 s in total; 2 throttled in 0 incidents',
  ]);
});

test('pace shows that the platform is unavailable, why, and when it is probed next', async () => {
  const breaker = {
    sinceMs: Date.parse('2026-11-21T09:00:00Z'),
    cause: 'unreachable',
    probeAtMs: Date.parse('2026-11-21T09:05:10Z'),
  };
  await set({ breaker });

  const lines = (await pace([])).out.split('\n');
  const json = JSON.parse((await pace(['--json'])).out);

  expect(lines[0]).toBe(
    'the platform has been unavailable since 2026-11-21T09:00:00.000Z (unreachable): workers take no jobs until a probe succeeds; the next probe is due at 2026-11-21T09:05:10.000Z',
  );
  expect(json.breaker).toEqual({
    since: '2026-11-21T09:00:00.000Z',
    cause: 'unreachable',
    probeAt: '2026-11-21T09:05:10.000Z',
  });
});

test('pace shows what a 429 has done to the rate', async () => {
  const nowMs = Date.now();
  await set({ ...used, incidents: 1, tatMs: nowMs + 60_000, throttle: learnedTo(35, nowMs, 1_200) });

  const { out } = await pace([]);

  expect(out).toContain(
    `rate: 50 a second; now 35 a second, lowered after a 429 at ${new Date(nowMs).toISOString()}`,
  );
  expect(out).toMatch(/^wait: (59|60)\.\d s for a call made now$/m);
  expect(out).toContain('in 1 incident');
});

test('pace names an operation that is throttled separately', async () => {
  const refusedAtMs = Date.now();
  await set({
    operations: { analyzeSentiment: { aloneSinceMs: refusedAtMs - 60_000, refusedAtMs }, runFunction: {} },
  });
  const item = await openBudget({ table: 'platform-sync', host, environment: aws.settings, attempts: 5 });
  await item
    .of?.('analyzeSentiment')
    .change('set', (budget) => ({ ...budget, rate: 50, throttle: refusedAt(refusedAtMs) }));

  const { out } = await pace([]);
  const json = JSON.parse((await pace(['--json'])).out);

  const [since, lastAt] = [refusedAtMs - 60_000, refusedAtMs].map((ms) => new Date(ms).toISOString());
  expect(out).toContain(
    `analyzeSentiment: throttled on its own since ${since}: one call at a time until one succeeds`,
  );
  expect(json.operations).toEqual([
    { operation: 'analyzeSentiment', effectiveRate: 10, probing: true, since, refusedAt: lastAt },
  ]);
});

test('pace --json prints one JSON value, even if nothing has been sent yet', async () => {
  const { code, out } = await pace(['--json'], { PLATFORM_RATE: '7.5' });

  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({
    host,
    breaker: null,
    paused: false,
    pausedAt: null,
    rate: 7.5,
    effectiveRate: 7.5,
    intervalMs: 1000 / 7.5,
    lowered: null,
    incidents: 0,
    waitMs: 0,
    ...emptyBudget.tally,
  });
});

describe('an operator', () => {
  test('can pause every sender and let them send again', async () => {
    const paused = await pace(['--pause']);
    const resumed = await pace(['--resume', '--json']);

    expect(paused.out).toMatch(/: paused since \d{4}-.*; --resume lets workers send again$/m);
    expect(JSON.parse(resumed.out)).toMatchObject({ paused: false });
  });

  test('can end throttling', async () => {
    const throttle = refusedAt(Date.now());
    await set({ incidents: 1, tatMs: Date.now() + 900_000, throttle });

    const before = await pace([]);
    const { code, out } = await pace(['--reset', '--json'], { PLATFORM_RATE: '50' });

    expect(before.out).toContain('one call at a time until one succeeds');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ rate: 50, effectiveRate: 50, lowered: null });
    expect(JSON.parse(out).waitMs).toBeLessThanOrEqual(1_000);
  });

  test('can cap the rate of the fleet; the lower of the cap and the setting applies', async () => {
    await set(used);

    const capped = await pace(['--rate', '1.5']);
    const json = JSON.parse((await pace(['--json'])).out);
    const lifted = await pace(['--rate', '60']);

    expect(capped.out).toContain('rate: 1.5 a second, set by --rate; the configured rate is 50 a second');
    expect(json).toMatchObject({ rate: 1.5, cap: { rate: 1.5, configuredRate: 50 }, effectiveRate: 1.5 });
    expect(lifted.out).toContain(
      'rate: 50 a second, as configured; --rate 60 has no effect, since it is not lower',
    );
  });
});

test('every command with a table sends within its budget', async () => {
  await using sandbox = await startPlatform({
    calculations: 30,
    datasets: 1,
    cards: 1,
    fileSets: 0,
    dataFiles: 3,
  });

  const { code } = await runCommand(['snapshot', 'calculations'], {
    ...aws.settings,
    ...settingsOf(sandbox, folder.path),
    PLATFORM_RATE: '100',
    SYNC_TABLE: 'platform-sync',
  });
  const { out } = await pace(['--json'], { PLATFORM_BASE_URL: sandbox.url });

  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ host: new URL(sandbox.url).host, rate: 100 });
  expect(JSON.parse(out).granted).toBeGreaterThan(0);
});

test('pace reports a table that does not exist', async () => {
  const { code, err } = await pace([], { SYNC_TABLE: 'no-such-table' });

  expect(code).toBe(2);
  expect(err).toContain(`get pace#${host} - in table no-such-table: there is no table no-such-table`);
});
