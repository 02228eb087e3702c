import { expect, test } from 'vitest';
import { createMemoryStore } from '../store/memory-store.ts';
import { type Aws, deployedStack, outputsOf } from './deployed.ts';
import { type Deployment, type SmokeInputs, smokeTest } from './smoke.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** A stack that runs all jobs except those of the broken types. */
function stackWithout(...broken: readonly string[]) {
  let nowMs = 1_000_000;
  const store = createMemoryStore();
  const write = async (type: string, id: string) => {
    if (!broken.includes(type))
      await store.put(`results/${type}/dt=2026-11-22/${id}.json`, json({ status: 'done' }));
  };
  const deployment: Deployment = {
    store,
    async send(job) {
      const { type, id } = job as { readonly type: string; readonly id: string };
      if (type !== 'snapshot') await write(type, id);
      else if (!broken.includes(type)) {
        const latest = { run: '20261122T120000Z-3fa9c1', startedAt: new Date(nowMs).toISOString() };
        await store.put('calculations.smoke/latest.json', json(latest));
      }
    },
    async emit() {
      if (!broken.includes('event')) await write('run-function', 'some-rule.5f0d');
      return '5f0d';
    },
    query: undefined,
    redAlarms: undefined,
    wait: async () => {
      nowMs += 1_000;
    },
  };
  return { deployment, now: () => nowMs };
}

const inputs: SmokeInputs = {
  job: { packageId: 'p', packageVersion: '1.0.0', functionName: 'f' },
  event: { source: 's', detailType: 'd', detail: {} },
};

async function reportsOf(
  given: ReturnType<typeof stackWithout>,
  more: Partial<Deployment & SmokeInputs> = inputs,
) {
  const reports = [];
  const smoke = { ...given.deployment, ...more, now: given.now, timeoutMs: 5_000 };
  for await (const { step, outcome, says } of smokeTest(smoke)) reports.push(`${step} ${outcome}: ${says}`);
  return reports;
}

test('the steps for the parts of a stack pass, and steps for missing parts are skipped', async () => {
  expect(await reportsOf(stackWithout())).toEqual([
    'snapshot passed: published run 20261122T120000Z-3fa9c1',
    'score passed: done',
    'function passed: done',
    'event passed: done',
    'query skipped: there is no Athena here',
    'alarms skipped: there is no CloudWatch here',
  ]);
});

test('a step without a timely outcome fails, and the other steps run', async () => {
  expect(
    await reportsOf(stackWithout('snapshot', 'event'), { ...inputs, redAlarms: async () => ['a'] }),
  ).toEqual([
    'snapshot failed: expected calculations.smoke/latest.json within 5 s, got nothing',
    'score passed: done',
    'function passed: done',
    'event failed: expected the result of 5f0d within 5 s, got nothing',
    'query skipped: there is no Athena here',
    'alarms failed: expected no red alarm, got a',
  ]);
});

test('a run that was published before the test does not count as published by it', async () => {
  const given = stackWithout('snapshot');
  const old = { run: 'old', startedAt: new Date(0).toISOString() };
  await given.deployment.store.put('calculations.smoke/latest.json', json(old));

  expect((await reportsOf(given))[0]).toContain('snapshot failed');
});

test('each smoke test copies the same selection, so that no gate refuses a run because the selection changed', async () => {
  const sent: { readonly type?: string; readonly name?: string }[] = [];
  const given = stackWithout();
  const send = async (job: object) => {
    sent.push(job);
    await given.deployment.send(job);
  };

  await reportsOf(given, { send });
  await given.deployment.wait();
  await reportsOf(given, { send });

  const [first, second] = sent.filter(({ type }) => type === 'snapshot');
  expect(second?.name).toBe(first?.name);
});

test('without --job and --event, the steps of functions and events are skipped', async () => {
  expect((await reportsOf(stackWithout(), {})).slice(2, 4)).toEqual([
    'function skipped: no --job was given',
    'event skipped: no --event was given',
  ]);
});

test('the outputs of the construct are found among outputs of other constructs', () => {
  const output = (OutputKey: string) => ({ OutputKey, OutputValue: OutputKey });
  const outputs = ['Store', 'SyncStore0A1B2C3D', 'SyncOtherStore0A1B2C3D'].map(output);

  expect(outputsOf(outputs, '')('Store')).toBe('Store');
  expect(outputsOf(outputs, 'Sync')('Store')).toBe('SyncStore0A1B2C3D');
  expect(() => outputsOf(outputs, 'Sync')('Table')).toThrow('expected the output SyncTable of the stack');
});

test('a deployed stack is queried through the AWS command line', async () => {
  const outputs = { Store: 's3://bucket', QueueUrl: 'https://q', GlueDatabase: 'runs', WorkGroup: 'queries' };
  const asked: string[] = [];
  const aws: Aws = async (words) => {
    asked.push(words.slice(0, 2).join(' '));
    return {
      Stacks: [
        { Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })) },
      ],
      QueryExecutionId: 'id',
      QueryExecution: { Status: { State: 'SUCCEEDED' } },
      ResultSet: { Rows: [{ Data: [{ VarCharValue: '_col0' }] }, { Data: [{ VarCharValue: '17' }] }] },
      MetricAlarms: [{ AlarmName: 'acme-AlarmsJobsFailed' }],
      Entries: [{ EventId: 'event' }],
    };
  };

  const deployed = await deployedStack({ stack: 'acme', construct: '' }, { aws, environment: {} });

  expect(await deployed.query?.('SELECT 1')).toBe(17);
  expect(await deployed.redAlarms?.()).toEqual(['acme-AlarmsJobsFailed']);
  expect(await deployed.emit({ source: 's', detailType: 'd', detail: {} })).toBe('event');
  expect(asked).toEqual([
    'cloudformation describe-stacks',
    'athena start-query-execution',
    'athena get-query-execution',
    'athena get-query-results',
    'cloudwatch describe-alarms',
    'events put-events',
  ]);
});
