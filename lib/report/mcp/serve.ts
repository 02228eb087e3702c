import { Readable, Writable } from 'node:stream';
import * as z from 'zod/mini';
import { shortened } from '../../json/faults.ts';
import { parseJson } from '../../json/json.ts';
import { shownJson } from '../../json/shown-json.ts';
import { boundedLines, MOST_LINE_BYTES, requestIdIn } from './bounded-lines.ts';
import { MOST_RESULT_BYTES, safeJson } from './bounds.ts';
import { createMcpServer, type McpServerOptions } from './create-server.ts';
import type { McpSdk } from './load-sdk.ts';
import { watchCalls } from './watch-calls.ts';

type Pipes = { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };

export type ServeOptions = McpServerOptions & {
  readonly pipes: Pipes;
  /** What is wrong with the connection, in words. */
  readonly err: (line: string) => void;
  /** Ends the server. */
  readonly signal: AbortSignal;
};

/** Serves the tools until the client closes its end or `signal` is aborted; calls that are under way are then stopped. */
export async function serve(sdk: McpSdk, options: ServeOptions): Promise<void> {
  const { pipes, err, signal } = options;
  const { tools, settled } = watchCalls(options.tools);
  const lines = Readable.from(boundedLines(chunksOf(pipes.input), refuse(pipes.output, err)));
  const transport = new sdk.StdioServerTransport(lines, escaping(pipes.output), {
    maxBufferSize: 2 * MOST_LINE_BYTES,
  });
  const handle = sdk.serveStdio(() => createMcpServer(sdk, { ...options, tools }), {
    transport,
    onerror: (error) => err(`the client's message was not understood: ${error.message}`),
  });
  await new Promise<void>((resolve) => {
    const end = () => resolve();
    lines.once('close', end);
    // For good: what was read from is destroyed in the end.
    lines.on('error', end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
  await handle.close();
  // Otherwise it would hold the process while the client keeps its end open.
  if ('destroy' in pipes.input && typeof pipes.input.destroy === 'function') pipes.input.destroy();
  lines.destroy();
  await settled();
}

/** Results are bounded, and the list of tools is: what is larger is an error of the SDK that repeats what it got. */
function withinBound(line: string): string {
  if (Buffer.byteLength(line) <= MOST_RESULT_BYTES) return line;
  const found = errorSchema.safeParse(parseJson(line));
  if (!found.success) return line;
  const { id, error } = found.data;
  const message = shortened(error.message, LONGEST_ERROR);
  return `${safeJson({ jsonrpc: '2.0', id, error: { code: error.code, message } })}\n`;
}

const LONGEST_ERROR = 1_000;

const errorSchema = z.object({
  id: z.union([z.string(), z.number()]),
  error: z.object({ code: z.number(), message: z.string() }),
});

async function* chunksOf(input: NodeJS.ReadableStream): AsyncGenerator<Buffer | string> {
  yield* input;
}

/** Says of a message that is too long what is wrong with it, to the client as well if its id can be seen. */
const refuse =
  (output: NodeJS.WritableStream, err: ServeOptions['err']) =>
  (first: string, last: string): void => {
    const message = `expected a message of at most ${MOST_LINE_BYTES} bytes, got a longer one, which was skipped`;
    err(message);
    const id = requestIdIn(first, last);
    if (id === undefined) return;
    output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32600, message } })}\n`);
  };

/** Takes whole messages, and escapes what could move a cursor or reverse a text where they are looked at. */
const escaping = (output: NodeJS.WritableStream): Writable =>
  new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      output.write(withinBound(shownJson(String(chunk))), done);
    },
  });
