import { describe, expect, test } from 'vitest';
import { createSubmission } from '../../../lib/cli/commands/mcp.ts';
import type { Submission } from '../../../lib/report/mcp/tool.ts';
import { createFakeTerminal } from '../../cli/fake-terminal.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { connect, contextOver } from './connect.ts';

const QUEUE = { SYNC_QUEUE_URL: 'https://sqs.us-east-1.amazonaws.com/1/jobs' };
const FUNCTION =
  '{"version":1,"type":"run-function","id":"report-1","packageId":"0aaf1c22-3f4b-4c5d-8e6f-7a8b9c0d1e2f","packageVersion":"1.0.0","functionName":"f","inputVariables":{"big":12345678901234567890}}';

async function start(environment: Record<string, string> = QUEUE, given: Partial<Submission> = {}) {
  const { terminal } = createFakeTerminal(environment);
  const sent: string[] = [];
  const clock = { now: Date.parse('2026-11-20T09:00:00Z') };
  const submission: Submission = {
    ...createSubmission(terminal),
    async send(jobs) {
      sent.push(...jobs.map(({ text }) => text));
      return { ids: jobs.map(({ id }) => id), notSent: [], error: undefined };
    },
    rate: async () => ({ rate: 2, isPaused: false }),
    ...given,
  };
  const context = contextOver(createMemoryStore(), { submission, now: () => clock.now });
  const server = await connect(context);
  return { ...server, sent, clock };
}

test('without --allow-submit there are no tools that send, and calling one by name does nothing', async () => {
  await using server = await connect(contextOver(createMemoryStore()));

  const { tools } = await server.client.listTools();

  expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
  await expect(server.call('submit', { jobs: FUNCTION })).rejects.toThrow('submit not found');
});

test('the reading tools are described in less than 9 KB, and all tools in less than 12 KB', async () => {
  await using server = await start();

  const { tools } = await server.client.listTools();

  expect(tools).toHaveLength(10);
  for (const { outputSchema } of tools)
    expect(outputSchema).toMatchObject({ properties: { status: { enum: expect.any(Array) } } });
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint);
  expect(Buffer.byteLength(JSON.stringify(reading))).toBeLessThan(9_000);
  expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThan(12_000);
});

test('tools that send jobs are annotated as tools that may change the platform', async () => {
  await using server = await start();

  const { tools } = await server.client.listTools();

  for (const name of ['submit', 'score'])
    expect(tools.find((tool) => tool.name === name)?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      openWorldHint: true,
    });
});

describe('submit', () => {
  test('sends nothing in the first call, and in the confirmed call exactly the shown jobs, byte for byte', async () => {
    await using server = await start();

    const { value: planned } = await server.call('submit', { jobs: FUNCTION });
    expect(server.sent).toEqual([]);
    expect(planned).toMatchObject({
      status: 'planned',
      jobs: 1,
      calls: 1,
      seconds: 1,
      data: { first: [FUNCTION] },
    });

    const { value: done } = await server.call('submit', { jobs: FUNCTION, confirm: planned['confirm'] });
    expect(server.sent).toEqual([FUNCTION]);
    expect(done).toMatchObject({ status: 'sent', sentIds: ['report-1'], notSentIds: [] });
  });

  test('sends jobs only once if a confirmed call is repeated, even concurrently', async () => {
    const held = Promise.withResolvers<void>();
    const sent: string[] = [];
    await using server = await start(QUEUE, {
      async send(jobs) {
        sent.push(...jobs.map(({ text }) => text));
        await held.promise;
        return { ids: jobs.map(({ id }) => id), notSent: [], error: undefined };
      },
    });
    const { value } = await server.call('submit', { jobs: FUNCTION });
    const args = { jobs: FUNCTION, confirm: value['confirm'] };

    const both = [server.call('submit', args), server.call('submit', args)];
    held.resolve();
    const [first, second] = await Promise.all(both);
    const third = await server.call('submit', args);

    expect(sent).toEqual([FUNCTION]);
    expect(first?.value['note']).toContain('All jobs are on the queue');
    for (const repeat of [second, third]) expect(repeat?.value['note']).toContain('this call sent nothing');
  });

  test('accepts a confirmation only for the same content and tool, and for ten minutes', async () => {
    await using server = await start();
    const { value } = await server.call('submit', { jobs: FUNCTION });
    const { confirm } = value as { confirm: string };
    const texts = [{ id: '1', text: 'good' }];

    const other = await server.call('submit', { jobs: FUNCTION.replace('report-1', 'report-2'), confirm });
    const otherTool = await server.call('score', { texts, confirm });
    const guessed = await server.call('submit', { jobs: FUNCTION, confirm: 'f'.repeat(32) });
    server.clock.now += 11 * 60_000;
    const late = await server.call('submit', { jobs: FUNCTION, confirm });

    expect([other, otherTool, guessed, late].map(({ isError }) => isError)).toEqual([true, true, true, true]);
    expect(other.text).toContain('for exactly these arguments, got a different token; nothing was sent');
    expect(late.text).toContain('in the last 10 minutes');
    expect(server.sent).toEqual([]);
  });

  test('refuses invalid, disallowed or nameless jobs in the first call', async () => {
    await using server = await start({ ...QUEUE, SYNC_ALLOW: '{"types":["score"]}' });

    const wrong = await server.call('submit', { jobs: `{"version":1,"type":"nothing"}\n${FUNCTION}` });
    const nameless = await (await start()).call('submit', { jobs: FUNCTION.replace('"id":"report-1",', '') });

    expect(wrong.text).toContain('line 1: type: expected one of');
    expect(wrong.text).toContain('line 2: ');
    expect(nameless.text).toContain('without an id, this run-function job would run again');
    for (const { isError, value } of [wrong, nameless])
      expect({ isError, value }).toEqual({ isError: true, value: {} });
  });

  test('names the jobs that could not be sent, and says that they may be sent again', async () => {
    await using server = await start(QUEUE, {
      send: async () => ({ ids: [], notSent: ['report-1'], error: new Error('the queue is away') }),
    });
    const { value } = await server.call('submit', { jobs: FUNCTION });

    const { value: done } = await server.call('submit', { jobs: FUNCTION, confirm: value['confirm'] });

    expect(done).toMatchObject({ status: 'incomplete', notSentIds: ['report-1'] });
    expect(done['note']).toContain('the queue is away');
  });

  test('names the missing setting if there is no queue', async () => {
    await using server = await start({ SYNC_TABLE: 'ledger' });

    const { isError, text } = await server.call('submit', { jobs: FUNCTION });

    expect(isError).toBe(true);
    expect(text).toContain('SYNC_QUEUE_URL');
  });
});

describe('score', () => {
  const texts = [
    { id: '1', text: 'good' },
    { id: '2', text: 'good' },
    { id: '3', text: 'bad' },
  ];

  test('costs one call for each distinct text, and sends the same job each time', async () => {
    await using server = await start();

    const { value } = await server.call('score', { texts, topics: [{ topic: 'delivery' }] });
    expect(value).toMatchObject({ jobs: 1, calls: 2, seconds: 1 });
    const args = { texts, topics: [{ topic: 'delivery' }] };
    const { value: first } = await server.call('score', { ...args, confirm: value['confirm'] });
    const { value: again } = await server.call('score', args);
    const { value: second } = await server.call('score', { ...args, confirm: again['confirm'] });

    expect(second['sentIds']).toEqual(first['sentIds']);
    expect(server.sent).toHaveLength(2);
  });

  test('refuses more calls than are allowed', async () => {
    await using server = await start();

    const { isError, text } = await server.call('score', { texts, maxCalls: 1 });

    expect(isError).toBe(true);
    expect(text).toContain('2 calls may be needed, over the limit of 1');
  });
});
