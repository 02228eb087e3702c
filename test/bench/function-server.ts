import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

export type FunctionServer = AsyncDisposable & {
  readonly url: string;
  /** How often the function of this job has run. */
  executions(job: string): number;
  /** Resolves when the next function has run, and its response is under way. */
  nextExecution(): Promise<void>;
  /** From now on each so-manieth response is lost, after the function ran; 0: none. */
  loseEvery(nth: number): void;
};

/** How long a function takes, in milliseconds. */
const LATENCY_MS = 5;

/** A platform that runs code functions, and nothing else: it counts them by the `job` in their input. */
export async function startFunctionServer(): Promise<FunctionServer> {
  const executions = new Map<string, number>();
  let [requests, lossy] = [0, 0];
  let next = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { readonly inputVariables: { readonly job: string } };
    const { job } = body.inputVariables;
    requests += 1;
    const isLost = lossy > 0 && requests % lossy === 0;
    executions.set(job, (executions.get(job) ?? 0) + 1);
    next.resolve();
    next = Promise.withResolvers();
    await delay(LATENCY_MS);
    if (isLost) request.socket.destroy();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(execution(job));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    executions: (job) => executions.get(job) ?? 0,
    nextExecution: () => next.promise,
    loseEvery(nth) {
      lossy = nth;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const execution = (job: string): string =>
  JSON.stringify({
    executionId: `execution of ${job}`,
    packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
    version: '1.0.0',
    functionName: 'addNumbers',
    status: 'SUCCESS',
    settings: { getLogs: false },
    startedOn: '2026-11-21T09:00:00Z',
    startedBy: '5',
    completedOn: '2026-11-21T09:00:01Z',
    result: 3,
    stdout: { log: [] },
    stderr: { log: [] },
  });
