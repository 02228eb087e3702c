import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { openQueue } from '../../lib/jobs/queue/open-queue.ts';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { openStore } from '../../lib/store/open.ts';
import { bareEnvironment } from '../compile-cache.ts';
import { scaled, scaledTimeout } from '../scale.ts';
import { type JobServices, jobServices } from './job-services.ts';

/*
 * Real workers that die, either because they are killed whatever they run, or because one job kills every worker that
 * runs it. A proxy in front of the platform sees each request, and may kill the worker that sent it.
 */

const KILLS = scaled(6, 100);
const JOBS = scaled(16, 50);
const TEXTS = 6;

type Seen = { readonly path: string; readonly body: string };

/** A proxy in front of the platform. A request that `isDeadly` kills its worker, and is not passed on. */
async function startProxy(target: string, isDeadly: (seen: Seen) => boolean) {
  const seen: Seen[] = [];
  const deadly = { kill: () => undefined as unknown };
  const bodyOf = async (incoming: IncomingMessage) => Buffer.concat(await incoming.toArray()).toString();
  const server = createServer(async (incoming, outgoing) => {
    const request = { path: incoming.url ?? '', body: await bodyOf(incoming) };
    seen.push(request);
    if (isDeadly(request)) return void deadly.kill();
    const { method, headers } = incoming;
    const passed = httpRequest(new URL(request.path, target), { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
    });
    passed.end(request.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  return { url, seen, deadly, [Symbol.asyncDispose]: close };
}

/** Starts one worker after another until one exits by itself, since no job is left; returns how many died. */
async function workUntilDone(
  environment: Readonly<Record<string, string>>,
  { deadly, seen }: Pick<Awaited<ReturnType<typeof startProxy>>, 'deadly' | 'seen'>,
  onStart: () => void = () => undefined,
): Promise<number> {
  for (let deaths = 0; ; deaths += 1) {
    onStart();
    const child = spawn(process.execPath, ['test/jobs/worker-process.ts'], {
      env: { ...bareEnvironment, ...environment },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    deadly.kill = () => child.kill('SIGKILL');
    const [code] = await once(child, 'exit');
    if (code === 0) return deaths;
    expect(code, `after ${seen.length} requests`).toBeNull();
  }
}

async function resultsIn(settings: Readonly<Record<string, string>>) {
  const store = await openStore(settings['SYNC_STORE'] ?? '', { s3: settings });
  const results = new Map<string, { status: string; error?: { kind: string; message: string } }>();
  for await (const { key } of store.list('results/')) {
    const { id, ...result } = JSON.parse((await store.get(key))?.body.toString() ?? 'null');
    expect(results.has(id)).toBe(false);
    results.set(id, result);
  }
  return results;
}

const settingsFor = (place: JobServices, url: string, token: string) => ({
  ...place.settings,
  PLATFORM_BASE_URL: url,
  PLATFORM_TOKEN: token,
  PLATFORM_RATE: '500',
  // A text that a killed worker had claimed can be claimed again one second after this.
  PLATFORM_TIMEOUT_MS: '2000',
});

test.for(Object.entries(jobServices))(
  `in %s, ${JOBS} jobs with texts are all done, and none is unknown, if their worker is killed ${KILLS} times`,
  { timeout: scaledTimeout(900_000) },
  async ([, open]) => {
    await using platform = await startPlatform({ calculations: 1, rate: 10_000 });
    await using place = await open();
    let [kills, left] = [0, 0];
    await using proxy = await startProxy(platform.url, ({ path }) => {
      if (!path.includes('sentiment') || kills >= KILLS) return false;
      left -= 1;
      if (left > 0) return false;
      kills += 1;
      left = Number.POSITIVE_INFINITY;
      return true;
    });
    const environment = settingsFor(place, proxy.url, platform.token);
    const queue = await openQueue(place.settings['SYNC_QUEUE_URL'] ?? '', environment);
    const textsOf = (job: number) =>
      Array.from({ length: TEXTS }, (_, text) => ({ id: `${text}`, text: `text ${job}.${text}` }));
    const jobs = Array.from({ length: JOBS }, (_, job) => ({
      ...{ version: 1, type: 'score', id: `job-${job}`, texts: textsOf(job) },
    }));
    await queue.send(jobs.map((job) => JSON.stringify(job)));

    // Each worker dies at its first, second, third or fourth text.
    const deaths = await workUntilDone(environment, proxy, () => (left = 1 + (kills % 4)));

    expect(deaths).toBe(KILLS);
    const results = await resultsIn(place.settings);
    expect(results.size).toBe(JOBS);
    expect([...results].filter(([, { status }]) => status !== 'done')).toEqual([]);
  },
);

const KILLER = 666_666;

test.for(Object.entries(jobServices))(
  'a function that kills its worker in %s finally runs alone, after its eight neighbours are done',
  { timeout: scaledTimeout(600_000) },
  async ([, open]) => {
    await using platform = await startPlatform({ calculations: 1, dataFiles: 20, rate: 10_000 });
    await using place = await open();
    await using proxy = await startProxy(platform.url, ({ body }) => body.includes(String(KILLER)));
    const environment = settingsFor(place, proxy.url, platform.token);
    const queue = await openQueue(place.settings['SYNC_QUEUE_URL'] ?? '', environment);
    const functionOf = (id: string, first: number) => ({
      ...{ version: 1, type: 'run-function', id, onUnknown: 'retry', functionName: 'addNumbers' },
      ...{ packageId: codePackages[0]?.id, packageVersion: '1.0.0', inputVariables: { first, second: 1 } },
    });
    const { dataFiles } = platform.ids();
    const neighbours = [1, 2, 3, 4].flatMap((number) => [
      functionOf(`neighbour-function-${number}`, number),
      number % 2 === 0
        ? { version: 1, type: 'data-files', id: `neighbour-files-${number}`, ids: dataFiles.slice(0, 5) }
        : { version: 1, type: 'score', id: `neighbour-text-${number}`, texts: [{ id: 'a', text: 'good' }] },
    ]);
    const jobs = [functionOf('killer', KILLER), ...neighbours];
    await queue.send(jobs.map((job) => JSON.stringify(job)));

    const deaths = await workUntilDone(environment, proxy);

    const results = await resultsIn(place.settings);
    const { status, error } = results.get('killer') ?? {};
    expect({ status, kind: error?.kind }).toEqual({ status: 'failed', kind: 'workers-died' });
    expect(error?.message).toContain('5 workers died');
    results.delete('killer');
    expect([...results.values()].map((each) => each.status)).toEqual(neighbours.map(() => 'done'));
    // Three while it ran beside other jobs, and five while it ran alone.
    expect(deaths).toBe(8);
    const last = proxy.seen.slice(-4).filter(({ path }) => path.includes('codeengine'));
    expect(last.every(({ body }) => body.includes(String(KILLER)))).toBe(true);
  },
);
