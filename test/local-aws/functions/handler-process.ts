// Runs in its own process, started by start-runner.ts: `handler-process.ts FILE`. Loads FILE, then calls its export
// `handler` once for every invocation, and replies as Lambda's runtime does.
import { pathToFileURL } from 'node:url';
import { type Invocation, type Reply, START_ID, type ThrownError } from './invocation.ts';

type Handler = (event: unknown, context: object) => unknown;

// The parent has ended, or wants this process to end.
process.on('disconnect', () => process.exit());
// Ctrl-C reaches the whole process group, but the parent decides what happens to the current work.
process.on('SIGINT', () => undefined);

const send = (reply: Reply): void => void process.send?.(reply);

async function load(file: string): Promise<Handler> {
  const { handler }: { handler?: unknown } = await import(pathToFileURL(file).href);
  if (typeof handler !== 'function') throw new TypeError(`${file}: expected an export handler, got none`);
  return handler as Handler;
}

async function replyTo(handler: Handler, invocation: Invocation): Promise<Reply> {
  const { id } = invocation;
  try {
    const text = JSON.stringify((await handler(invocation.event, createContext(invocation))) ?? null);
    return { id, kind: 'result', result: JSON.parse(text) };
  } catch (error) {
    console.error(error);
    return { id, kind: 'threw', error: describe(error) };
  }
}

const createContext = ({ id, deadlineMs, functionName, functionArn, memoryMb }: Invocation) => ({
  awsRequestId: id,
  functionName,
  functionVersion: '$LATEST',
  invokedFunctionArn: functionArn,
  memoryLimitInMB: String(memoryMb),
  logGroupName: `/aws/lambda/${functionName}`,
  logStreamName: `${process.pid}`,
  callbackWaitsForEmptyEventLoop: true,
  getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
});

const describe = (error: unknown): ThrownError =>
  error instanceof Error
    ? { errorType: error.name, errorMessage: error.message, trace: error.stack?.split('\n') ?? [] }
    : { errorType: typeof error, errorMessage: String(error), trace: [] };

try {
  const handler = await load(process.argv[2] ?? '');
  process.on('message', async (invocation: Invocation) => send(await replyTo(handler, invocation)));
  send({ id: START_ID, kind: 'result', result: null });
} catch (error) {
  console.error(error);
  send({ id: START_ID, kind: 'threw', error: describe(error) });
}
