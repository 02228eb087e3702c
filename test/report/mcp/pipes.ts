import { PassThrough } from 'node:stream';
import { serve } from '../../../lib/report/mcp/serve.ts';
import type { McpContext, Tool } from '../../../lib/report/mcp/tool.ts';

/** Starts a server over pipes in this process, whose messages are written and read as lines. */
export async function servePipes(context: McpContext, tools: Readonly<Record<string, Tool>>) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const [lines, said]: [string[], string[]] = [[], []];
  let wake: () => void = () => undefined;
  let rest = '';
  output.on('data', (chunk: Buffer) => {
    const parts = `${rest}${chunk}`.split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    wake();
  });
  const ended = serve({
    context,
    tools,
    version: '0.0.0',
    pipes: { input, output },
    err: (line) => said.push(line),
    signal: stop.signal,
  });
  return {
    input,
    said,
    lines,
    ended,
    stop: () => stop.abort(new Error('stopped by SIGTERM')),
    write: (...messages: readonly (object | string)[]) =>
      input.write(
        messages.map((each) => `${typeof each === 'string' ? each : JSON.stringify(each)}\n`).join(''),
      ),
    /** Waits for the response to the request with this id. */
    async response(id: number): Promise<Record<string, unknown>> {
      for (;;) {
        const found = lines.map((line) => JSON.parse(line)).find((message) => message.id === id);
        if (found !== undefined) return found;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

export const request = (id: number, method: string, params: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

export const call = (id: number, name: string, args: object = {}) =>
  request(id, 'tools/call', { name, arguments: args });

export const HELLO = request(0, 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '0' },
});
