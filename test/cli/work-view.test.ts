import { expect, test } from 'vitest';
import { createTokenWatch } from '../../lib/cli/jobs/token-watch.ts';
import { createWorkView } from '../../lib/cli/jobs/work-view.ts';
import type { EndedJob } from '../../lib/jobs/handle-message.ts';
import type { QueueCounts } from '../../lib/jobs/queue/queue.ts';
import type { PlatformEvent } from '../../lib/platform/events.ts';
import { createFakeScreen } from './fake-screen.ts';

const NOON = new Date(2026, 10, 22, 12, 0, 0).getTime();

/** A view at a terminal of so many columns, or off one. */
function startView(columns?: number) {
  const fake = columns === undefined ? undefined : createFakeScreen(columns);
  const said: string[] = [];
  let counts: QueueCounts | undefined = { waiting: 8, inFlight: 2, delayed: 0 };
  let look = () => {};
  let everyMs = 0;
  const view = createWorkView({
    screen: fake?.screen,
    err: (line) => void said.push(line),
    counts: async () => counts,
    now: () => NOON,
    every(ms, act) {
      [everyMs, look] = [ms, act];
      return { [Symbol.dispose]: () => undefined };
    },
  });
  return {
    view,
    said,
    line: () => fake?.line(),
    everyMs: () => everyMs,
    /** The time has come to ask the queue, which counts so many messages. */
    async looks(now: QueueCounts | 'unknown' | undefined = counts) {
      counts = now === 'unknown' ? undefined : now;
      look();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const job = (id: string, rest: Partial<EndedJob> = {}): EndedJob => ({
  id,
  type: 'run-function',
  status: 'done',
  tookMs: 1_240,
  ...rest,
});
const failed = job('j2', { status: 'failed', error: { kind: 'status', message: 'no\u001b[2J luck' } });

test('on a terminal each job that ends has a line, and the last one has all counts', async () => {
  const { view, said, line, looks } = startView(100);

  await looks();
  view.onEnded(job('j1'));
  view.onEnded(failed);
  view.onEnded(failed);
  view.onRefused('m1');

  expect(said).toEqual([
    '12:00:00 done: run-function j1, 1.2 s',
    '12:00:00 failed: run-function j2, 1.2 s: no luck',
  ]);
  expect(line()).toBe('work  1 done, 1 failed, 0 unknown of about 10; 8 waiting, 2 in flight, 0 delayed');
  expect(view.counts()).toEqual({ done: 1, failed: 1, unknown: 0, refused: 1 });
  view[Symbol.dispose]();
  expect(line()).toBe('');
});

test('at 40 columns the last line says how many of all have ended', async () => {
  const { view, line, looks } = startView(40);

  await looks();
  view.onEnded(failed);

  expect(line()).toBe('work  1 of about 10 ended, 1 not done');
});

test('a job that had ended before takes no time, and more jobs may have ended than the queue knew of', async () => {
  const { view, said, line, looks } = startView(60);

  await looks({ waiting: 1, inFlight: 0, delayed: 0 });
  view.onEnded(job('j1', { tookMs: undefined }));
  view.onEnded(job('j2'));

  expect(said[0]).toBe('12:00:00 done: run-function j1');
  expect(line()).toBe('work  2 of about 2 ended, 0 not done');
});

test('a job that is settled later has another line', () => {
  const { view, said } = startView(80);

  view.onEnded(job('j1', { status: 'unknown' }));
  view.onEnded(job('j1'));

  expect(said).toHaveLength(2);
  expect(view.counts()).toMatchObject({ done: 1, unknown: 0 });
});

test('off a terminal a line has the counts each half minute, if they have changed', async () => {
  const { view, said, looks, everyMs } = startView();

  await looks();
  await looks();
  view.onEnded(job('j1'));
  await looks({ waiting: 7, inFlight: 2, delayed: 0 });

  expect(everyMs()).toBe(30_000);
  expect(said).toEqual([
    'work: 0 done, 0 failed, 0 unknown of about 10; 8 waiting, 2 in flight, 0 delayed',
    'work: 1 done, 0 failed, 0 unknown of about 10; 7 waiting, 2 in flight, 0 delayed',
  ]);
});

test('a queue that does not report its counts is said to', async () => {
  const { said, looks } = startView();

  await looks('unknown');

  expect(said).toEqual(['work: 0 done, 0 failed, 0 unknown; the queue does not report its counts']);
});

const from = 'the one in PLATFORM_TOKEN';
const refusal: PlatformEvent = {
  kind: 'request',
  operation: 'runFunction',
  attempt: 1,
  status: 401,
  durationMs: 1,
  sizeBytes: 0,
};
const outage = { sinceMs: 0, probeAtMs: 0 };

test('a token that cannot change stops the work at its first refusal', () => {
  const { hooks, signal, fault } = createTokenWatch({ host: 'acme.example.com', from, isFixed: true });

  hooks.observe({ ...refusal, status: 403 });
  expect(fault()).toBeUndefined();
  hooks.observe(refusal);

  expect(signal.aborted).toBe(true);
  expect(fault()).toMatchObject({
    code: 1,
    words: expect.stringContaining('acme.example.com refused the token (401)'),
  });
});

test('the refused token of another worker stops nothing', () => {
  for (const isFixed of [true, false]) {
    const { hooks, signal } = createTokenWatch({ host: 'acme.example.com', from, isFixed });

    hooks.onAway({ ...outage, cause: 'refused token' });

    expect(signal.aborted).toBe(false);
  }
});

test('a token that may have been changed stops it once that is refused too', () => {
  const { hooks, signal } = createTokenWatch({ host: 'acme.example.com', from, isFixed: false });

  hooks.observe(refusal);
  hooks.onAway({ ...outage, cause: 'refused token' });
  expect(signal.aborted).toBe(false);
  hooks.observe(refusal);

  expect(signal.aborted).toBe(true);
});
