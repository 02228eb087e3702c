import { expect, test } from 'vitest';
import { createJobSlots } from '../../lib/jobs/job-slots.ts';
import { createVirtualClock } from '../pace/virtual-clock.ts';

/** Jobs that take a slot of one process for a time, and log when they began and ended. */
function createJobs() {
  const clock = createVirtualClock();
  const slots = createJobSlots(clock);
  const log: string[] = [];
  const run = async (name: string, tookMs: number, options: Parameters<(typeof slots)['take']>[0]) => {
    using slot = await slots.take(options);
    if (slot === undefined) return void log.push(`${name} had none at ${clock.now()}`);
    log.push(`${name} from ${clock.now()}`);
    await clock.sleep(tookMs);
    log.push(`${name} to ${clock.now()}`);
  };
  return { clock, slots, log, run };
}

test('a job whose workers died runs alone, after all others, in the order of the number of deaths', async () => {
  const { clock, log, run } = createJobs();

  void run('four', 10, { deaths: 4 });
  void run('three', 1_000, { deaths: 3 });
  void run('none', 500, { deaths: 0 });
  void clock.sleep(100).then(() => run('other', 500, { deaths: 0 }));
  void clock.sleep(900).then(() => run('late', 10, { deaths: 0 }));
  await clock.run();

  expect(log.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'none from',
    'other from',
    'none to',
    'other to',
    'three from',
    'three to',
    'late from',
    'late to',
    'four from',
    'four to',
  ]);
});

test('once a job has waited a minute to run alone, no other job starts', async () => {
  const { clock, log, run } = createJobs();

  void run('alone', 10, { deaths: 3 });
  for (let second = 0; second < 90; second += 1)
    void clock.sleep(second * 1_000).then(() => run(`job ${second}`, 1_500, { deaths: 0 }));
  await clock.run();

  const at = log.findIndex((line) => line.startsWith('alone from'));
  expect(log.slice(0, at).filter((line) => line.includes('from'))).toHaveLength(60);
  expect(log[at + 1]).toMatch(/^alone to/);
  expect(log.filter((line) => line.includes(' to '))).toHaveLength(91);
});

test.for([-31, 31])(
  'a clock that is set %i days off does not keep a job from running alone',
  async (days) => {
    const clock = createVirtualClock();
    let setByMs = 0;
    const slots = createJobSlots({ sleep: clock.sleep, now: () => clock.now() + setByMs });
    let beganMs: number | undefined;
    const alone = async () => {
      using slot = await slots.take({ deaths: 3 });
      if (slot?.isAlone) beganMs = clock.now();
    };

    const began = clock.now();
    void alone();
    void clock.sleep(20).then(() => {
      setByMs = days * 86_400_000;
    });
    void clock.sleep(10_000);
    await clock.run();

    expect((beganMs ?? Number.POSITIVE_INFINITY) - began).toBeLessThan(1_000);
  },
);

test('a job whose workers died no longer runs alone once it has made progress', async () => {
  const { clock, slots, log, run } = createJobs();

  const shared = (async () => {
    using slot = await slots.take({ deaths: 3 });
    await clock.sleep(1_000);
    slot?.share();
    await clock.sleep(1_000);
  })();
  void clock.sleep(500).then(() => run('other', 10, { deaths: 0 }));
  await clock.run();
  await shared;

  expect(log).toHaveLength(2);
  expect(Number(log[0]?.split(' ').at(-1))).toBeLessThan(1_250);
});

test('a job gets no slot after its deadline, or once the process is to stop', async () => {
  const { clock, log, run } = createJobs();
  const stop = new AbortController();

  void run('long', 5_000, { deaths: 0 });
  void run('late', 10, { deaths: 3, untilMs: 1_000 });
  void run('stopped', 10, { deaths: 3, signal: stop.signal });
  void clock.sleep(2_000).then(() => stop.abort(new Error('stop')));
  await clock.run();

  expect(log).toEqual(['long from 0', 'late had none at 1000', 'stopped had none at 2000', 'long to 5000']);
});
