import { expect, test } from 'vitest';
import { adds, lines, startJobs, throws } from '../../cli/start-jobs.ts';
import { startBus } from './start-bus.ts';

/** Runs two jobs: one is done, the other fails. */
async function workOff(
  jobs: Awaited<ReturnType<typeof startJobs>>,
  settings: Readonly<Record<string, string>>,
) {
  await jobs.run(['submit', '-'], lines([adds('sum'), throws('thrown')]));
  await jobs.begin(['work', '--drain'], { ...jobs.settings, ...settings }).ended;
}

test('each job that ended causes one event, which names its result', async () => {
  await using jobs = await startJobs();
  using bus = await startBus({ source: ['platform-sync'], 'detail-type': ['JobFinished'] });

  await workOff(jobs, bus.settings);

  const details = (await bus.delivered()).map(({ detail }) => detail);
  const common = { type: 'run-function', result: expect.any(String), store: jobs.folder };
  expect(details.toSorted((one, other) => (`${one['id']}` < `${other['id']}` ? -1 : 1))).toEqual([
    { id: 'sum', status: 'done', ...common },
    { id: 'thrown', status: 'failed', ...common },
  ]);
  for (const { id, status, result = '' } of details)
    expect(await jobs.readJson(result)).toMatchObject({ id, status });
});

test('an event rule may filter these events by the status of the job', async () => {
  await using jobs = await startJobs();
  using bus = await startBus({ source: ['platform-sync'], detail: { status: ['failed'] } });

  await workOff(jobs, bus.settings);

  expect(await bus.delivered()).toMatchObject([
    { source: 'platform-sync', 'detail-type': 'JobFinished', detail: { id: 'thrown' } },
  ]);
});
