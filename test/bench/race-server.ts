import type { ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { startLoopbackServer } from '../local-aws/services/loopback-server.ts';

/** The faults of the platform, in numbers of requests. */
export type ServerFaults = {
  /** One response in this number is lost, after the work was done; 0: none. */
  readonly loseEvery: number;
  /** After each such number of pieces of work, all requests get a 429 with `Retry-After: 1` for a second; 0: never. */
  readonly burstEvery: number;
  /** Maximum number of such bursts. */
  readonly maxBursts: number;
};

const BURST_MS = 1_000;

export type RaceServer = AsyncDisposable & {
  readonly url: string;
  /** How often a function has run, or a text was scored, by the job's id or the text. */
  executions(key: string): number;
  /** Resolves once this number of further pieces of work are done, before the last response is sent. */
  afterMore(executions: number): Promise<void>;
  setFaults(faults: Partial<ServerFaults>): void;
  /** Delays further responses by this number of milliseconds. */
  setLatency(ms: number): void;
  /** Lets every second function return a string of this number of bytes. */
  setLarge(bytes: number): void;
};

/** Minimum duration of a function or a text, in milliseconds. */
const LATENCY_MS = 5;

const NO_FAULTS: ServerFaults = { loseEvery: 0, burstEvery: 0, maxBursts: 0 };

/** Starts a platform that only runs code functions and scores texts, and counts both. */
export async function startRaceServer(): Promise<RaceServer> {
  const executions = new Map<string, number>();
  let faults = NO_FAULTS;
  let [done, bursts, refusesUntilMs, latencyMs, largeBytes] = [0, 0, 0, 0, 0];
  let watch = { at: Number.POSITIVE_INFINITY, reached: Promise.withResolvers<void>() };
  const server = await startLoopbackServer(async (request, response) => {
    const body = (await json(request)) as Body;
    if (performance.now() < refusesUntilMs) {
      response
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' })
        .end('{"message":"busy"}');
      return;
    }
    done += 1;
    if (bursts < faults.maxBursts && done % faults.burstEvery === 0) {
      bursts += 1;
      refusesUntilMs = performance.now() + BURST_MS;
    }
    const isLost = faults.loseEvery > 0 && done % faults.loseEvery === 0;
    const isLarge = largeBytes > 0 && done % 2 === 0;
    const key = 'input' in body ? body.input[0].text : body.inputVariables.job;
    executions.set(key, (executions.get(key) ?? 0) + 1);
    if (done >= watch.at) watch.reached.resolve();
    await delay(LATENCY_MS + latencyMs);
    if (isLost) request.socket.destroy();
    else if ('input' in body) respond(response, SENTIMENT);
    else respond(response, execution(key, isLarge ? 'x'.repeat(largeBytes) : 3));
  });
  return {
    url: server.endpoint,
    executions: (key) => executions.get(key) ?? 0,
    afterMore(count) {
      watch = { at: done + count, reached: Promise.withResolvers() };
      return watch.reached.promise;
    },
    setFaults(given) {
      faults = { ...NO_FAULTS, ...given };
      [bursts, refusesUntilMs] = [0, 0];
    },
    setLatency(ms) {
      latencyMs = ms;
    },
    setLarge(bytes) {
      largeBytes = bytes;
    },
    [Symbol.asyncDispose]: server.close,
  };
}

type Body =
  | { readonly input: readonly [{ readonly text: string }] }
  | { readonly inputVariables: { readonly job: string } };

const respond = (response: ServerResponse, value: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

const SENTIMENT = {
  type: 'DEFAULT',
  sentiment: 'POSITIVE',
  model: 'm1',
  modelProviderUsage: { inputTokens: 10, outputTokens: 2, totalTokens: 12, reasoningTokens: 0 },
};

const execution = (job: string, result: unknown) => ({
  executionId: `execution of ${job}`,
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  version: '1.0.0',
  functionName: 'addNumbers',
  status: 'SUCCESS',
  settings: { getLogs: false },
  startedOn: '2026-11-21T09:00:00Z',
  startedBy: '5',
  completedOn: '2026-11-21T09:00:01Z',
  result,
  stdout: { log: [] },
  stderr: { log: [] },
});
