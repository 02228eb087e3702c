import { expect, onTestFinished, test, vi } from 'vitest';
import { readingTools } from '../../../lib/report/mcp/serve.ts';
import { READS, type Tool } from '../../../lib/report/mcp/tool.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { contextOver } from './connect.ts';
import { call, HELLO, request, servePipes } from './pipes.ts';

const context = contextOver(createMemoryStore());

test('lines that are not messages, unknown methods and unknown tools do not stop the server', async () => {
  const { input, write, response, ended } = await servePipes(context, readingTools);

  write(HELLO, '{"jsonrpc":', 'null', '[]', '{"jsonrpc":"2.0"}', '', '\u0000', request(1, 'no/such'));
  write(call(2, 'no_such_tool'), call(3, '__proto__'), call(4, 'formula_check', { formula: 'SUM(`a`)' }));

  expect(await response(1)).toMatchObject({ error: { code: -32601 } });
  expect(await response(2)).toMatchObject({ error: { message: 'Tool no_such_tool not found' } });
  expect(await response(3)).toMatchObject({ error: { code: -32602 } });
  expect(await response(4)).toMatchObject({
    result: {
      content: [{ type: 'text', text: 'complete: the result is the structured content' }],
      structuredContent: { status: 'complete', data: { status: 'valid' } },
    },
  });
  input.end();
  await ended;
});

test('a client of a protocol without structured content gets the result as text', async () => {
  const { input, write, response, ended } = await servePipes(context, readingTools);

  write({ ...HELLO, params: { ...HELLO.params, protocolVersion: '2025-03-26' } });
  write(call(1, 'formula_check', { formula: 'SUM(`a`)' }));

  const text = expect.stringMatching(/^\{"status":"complete","data":\{.*"status":"valid"/);
  expect(await response(1)).toMatchObject({ result: { content: [{ type: 'text', text }] } });
  input.end();
  await ended;
});

test('a message that is too long ends the server, which says so', async () => {
  const { write, said, ended } = await servePipes(context, readingTools);

  write(HELLO, call(1, 'search', { text: 'x'.repeat(11_000_000) }));

  await ended;
  expect(said).toEqual([expect.stringContaining('exceeded maximum size')]);
});

/** A tool that ends only when its call is stopped. */
function endless() {
  const stopped = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const tool: Tool = {
    title: 'Endless',
    description: 'never ends',
    annotations: READS,
    inputSchema: () => ({ type: 'object' }),
    call: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        begun.resolve();
        signal.addEventListener('abort', () => {
          stopped.resolve();
          reject(signal.reason);
        });
      }),
  };
  return { tools: { ...readingTools, endless: tool }, begun: begun.promise, stopped: stopped.promise };
}

test.each(['the end of the input', 'a signal'])(
  '%s ends the server, and stops the calls in progress',
  async (how) => {
    const { tools, begun, stopped } = endless();
    const { input, write, stop, ended } = await servePipes(context, tools);
    write(HELLO, call(1, 'endless'));
    await begun;

    if (how === 'a signal') stop();
    else input.end();

    await stopped;
    await ended;
  },
);

test('calls run concurrently, and a call that the client cancels is stopped', async () => {
  const { tools, begun, stopped } = endless();
  const { input, write, response, ended } = await servePipes(context, tools);
  write(HELLO, call(1, 'endless'));
  await begun;

  write(call(2, 'formula_check', { formula: '1' }));
  expect(await response(2)).toMatchObject({ result: {} });
  write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });

  await stopped;
  input.end();
  await ended;
});

test('a call whose client does not ask for progress ends within 10 s', async () => {
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  onTestFinished(() => timeout.mockRestore());
  const { input, write, response, ended } = await servePipes(context, {
    late: { ...endless().tools.endless, call: async (_, { signal }) => signal.throwIfAborted() as never },
  });

  write(HELLO, call(1, 'late'));

  expect(await response(1)).toMatchObject({
    result: { isError: true, content: [{ text: expect.stringContaining('longer than 10 s') }] },
  });
  expect(timeout.mock.calls).toEqual([[10_000]]);
  input.end();
  await ended;
});

test('a client that asks for progress gets it continuously, and learns immediately how much a query reads', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { tools, begun } = endless();
  const reading: Tool = {
    ...tools.endless,
    async call(_, { say }) {
      say('reads 1.2 GB');
      return { data: {} };
    },
  };
  const { input, write, response, lines, ended } = await servePipes(context, { ...tools, reading });
  const asking = (id: number, name: string) =>
    request(id, 'tools/call', { name, arguments: {}, _meta: { progressToken: `token ${id}` } });
  const shown = () =>
    lines.map((line) => JSON.parse(line)).filter(({ method }) => method === 'notifications/progress');

  write(HELLO, asking(1, 'reading'), asking(2, 'endless'), call(3, 'endless'));
  await response(1);
  await begun;
  vi.advanceTimersByTime(19_000);
  await new Promise((resolve) => setImmediate(resolve));

  expect(shown().map(({ params }) => [params.progressToken, params.message])).toEqual([
    ['token 1', 'reads 1.2 GB'],
    ['token 2', 'Endless'],
    ['token 2', 'Endless'],
    ['token 2', 'Endless'],
  ]);
  const progress = shown().map(({ params }) => params.progress);
  expect(progress.slice(1)).toEqual(progress.slice(1).sort((a, b) => a - b));
  input.end();
  await ended;
});
