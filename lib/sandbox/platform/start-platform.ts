import { once } from 'node:events';
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { printJson } from '../../base/json/index.ts';
import { quoteColumn } from '../../formula/index.ts';
import { createPlatformCounter, type PlatformCounter } from './counts.ts';
import type { FileSet } from './files/file-set.ts';
import { codePackages } from './functions/packages.ts';
import { createFunctionRunner, type RunFunction } from './functions/run-function.ts';
import { createServe, deliver } from './http/serve-api.ts';
import type { Operation } from './operations/operation.ts';
import { operations } from './operations/operations.ts';
import { checkOptions, type PlatformOptions, type ResolvedOptions } from './options.ts';
import { type Random, randomFor } from './records/random.ts';
import { createPlatformState, type PlatformState } from './state.ts';

/** A running reference platform. */
export type Sandbox = Omit<ReturnType<typeof createPlatformApp>, 'fetch' | 'close'> & {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts the reference platform. Throws a `TypeError` that lists every invalid option, or the error of `listen`, such
 * as `EADDRINUSE`.
 */
export async function startPlatform(options: PlatformOptions = {}): Promise<Sandbox> {
  const resolved = checkOptions(options);
  const { fetch, close: closeApp, ...app } = createPlatformApp(resolved);
  const server = createAdaptorServer({
    fetch: (request, bindings) => fetch(request, bindings as HttpBindings),
    overrideGlobalObjects: false,
  });
  if (!(server instanceof Server)) throw new TypeError('expected an HTTP/1 server');
  server.keepAliveTimeout = 60_000;
  server.listen(resolved.port, '127.0.0.1');
  await once(server, 'listening');
  const stopChurn = startChurn(resolved.churn, app.churn);
  const close = async () => {
    stopChurn();
    closeApp();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  const { port } = server.address() as AddressInfo;
  return { ...app, url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}

/** Milliseconds between two rounds of churn: short enough for churn to happen between the pages of one scan. */
const CHURN_EVERY_MS = 20;

/**
 * Starts changing records, `perSecond` on average, and returns the function that stops it. A round that comes late
 * makes all changes that are due by then, so a busy process does not change fewer records.
 */
function startChurn(perSecond: number, churn: (steps: number) => unknown): () => void {
  if (perSecond === 0) return () => undefined;
  const startedAt = performance.now();
  let stepsDone = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond) - stepsDone;
    stepsDone += due;
    churn(due);
  }, CHURN_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Creates the platform without a server, with what tests read and change in it. */
export function createPlatformApp(options: ResolvedOptions) {
  const state = createPlatformState(options);
  const counter = createPlatformCounter();
  const churn = createChurn(state, counter);
  const closing = new AbortController();
  let { token } = options;
  const app = createApp({
    state,
    options,
    counter,
    churn,
    runCodeFunction: functionRunner(state, options),
    token: () => token,
    closing: closing.signal,
  });
  return {
    /**
     * Responds to a request. Without `bindings` there is no socket: a reset rejects the promise, and a cut body fails
     * while it is read.
     */
    fetch: async (request: Request, bindings: Partial<HttpBindings> = {}) => app.fetch(request, bindings),
    get token() {
      return token;
    },
    tokenHeader: options.tokenHeader,
    state,
    counts: counter.read,
    /** The search row of every calculation, exactly as it is served, ordered by id. */
    calculations: () => calculationRows(state),
    /** Every row of a FileSet, exactly as it is served, in the order of creation. */
    files: (fileSetId: string) => fileRows(state, fileSetId),
    /** The ids of everything that can be requested. */
    ids: () => platformIds(state),
    /** Records that examples of snapshots and jobs can refer to. */
    samples: () => samplesIn(state),
    /** The ids of the calculations that existed the whole time between two moments, in epoch milliseconds. */
    livedThrough: state.calculations.livedThrough,
    /** Makes this many changes to records. Returns their number by kind, such as `file added`. */
    churn,
    /** Accepts only this token from now on: the old token is revoked. */
    setToken(next: string) {
      token = next;
    },
    close: () => closing.abort(),
  };
}

function functionRunner(
  { seed, now, calculations, formulas, datasets }: PlatformState,
  options: ResolvedOptions,
): RunFunction {
  let started = 0;
  return createFunctionRunner({
    timeLimitMs: options.functionTimeLimitMs,
    memoryLimitBytes: options.functionMemoryBytes,
    now,
    newId: () => {
      started += 1;
      return randomFor(seed, 'execution', started).uuid();
    },
    monotonicMs: options.monotonicNow,
    formulas: () =>
      calculations.byId().map((sequence) => {
        const calculation = calculations.at(sequence);
        const { id, name, datasetIndex = -1 } = calculation;
        const expression = formulas.expressionOf(calculation);
        return { id, name, expression, datasetId: datasets[datasetIndex]?.id ?? null };
      }),
  });
}

type Environment = { Bindings: Partial<HttpBindings> };

function createApp(parts: Parameters<typeof createServe>[0] & SandboxParts): Hono<Environment> {
  const app = new Hono<Environment>();
  const serve = createServe(parts);
  const respond = async (context: Context<Environment>, operation: Operation | undefined) => {
    const request = context.req.raw;
    const delivery = await serve({ request, operation, path: { ...context.req.param() } });
    return deliver(delivery, request, context.env, parts.options);
  };
  for (const operation of operations) {
    const path = operation.endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.all(path, (context) => respond(context, operation));
  }
  app.all('/api/*', (context) => respond(context, undefined));
  app.route('/', sandboxRoutes(parts));
  // An error means that the connection is broken, so it must not become a response. No other error is expected.
  app.onError((error) => {
    throw error;
  });
  return app;
}

/** The ids of everything that can be requested; no operation of the contract lists them. */
function platformIds({ fileSets, datasets, dataFileIds }: PlatformState) {
  return {
    fileSets: fileSets.map(({ id }) => id),
    datasets: datasets.map(({ id }) => id),
    dataFiles: dataFileIds,
    functions: codePackages.flatMap(({ id, versions }) =>
      versions
        .filter(({ released }) => released)
        .flatMap(({ version, functions }) =>
          functions.map(({ name }) => ({ packageId: id, version, functionName: name })),
        ),
    ),
  };
}

/**
 * The ids of all datasets, FileSets and data files, the first code package, and the first calculation, with a formula
 * that uses columns of its dataset.
 */
function samplesIn(state: PlatformState) {
  const { datasets, fileSets, dataFiles, functions } = platformIds(state);
  const [row = ''] = calculationRows(state);
  const [, calculationId = ''] = /"id":(\d+)/.exec(row) ?? [];
  const dataset = state.datasets.find((each) => row.includes(each.id));
  const column = (type: string) =>
    quoteColumn(dataset?.columns.find((each) => each.type === type)?.name ?? type);
  return {
    datasetIds: datasets,
    filesetIds: fileSets,
    dataFileIds: dataFiles,
    packageId: functions[0]?.packageId ?? '',
    calculationId,
    expression: `SUM(CASE WHEN ${column('STRING')} IS NULL THEN 0 ELSE ${column('DECIMAL')} END) / COUNT(*)`,
  };
}

type SandboxParts = {
  readonly state: PlatformState;
  readonly counter: PlatformCounter;
  readonly churn: Churn;
};

const MAX_CHURN_STEPS = 100_000;

/**
 * What other processes can request from the sandbox, outside the contract and without a token:
 * - `GET /_sandbox/counts`: the counts of `counts.ts`
 * - `GET /_sandbox/ids`: the ids of what can be requested
 * - `GET /_sandbox/truth/calculations`: every calculation's search row as it would be served, NDJSON, by id
 * - `GET /_sandbox/truth/files/FILESET-ID`: every row of a FileSet as it would be served, NDJSON
 * - `GET /_sandbox/lived-through?from=MS&to=MS[&fileset=ID]`: the ids of the calculations (or the files of a FileSet)
 *   that existed the whole time between two moments in epoch milliseconds, a JSON list of strings
 * - `POST /_sandbox/churn` `{steps}`: makes this many changes to records; returns their number by kind
 */
function sandboxRoutes({ state, counter, churn }: SandboxParts): Hono {
  const app = new Hono().basePath('/_sandbox');
  app.get('/counts', (context) =>
    context.body(printJson(counter.read()), 200, { 'content-type': 'application/json; charset=utf-8' }),
  );
  app.get('/ids', (context) => context.json(platformIds(state)));
  app.get('/truth/calculations', () => ndjson(calculationRows(state)));
  app.get('/truth/files/:fileSetId', (context) => ndjson(fileRows(state, context.req.param('fileSetId'))));
  app.get('/lived-through', (context) => {
    const { from, to, fileset } = context.req.query();
    const records =
      fileset === undefined ? state.calculations : state.fileSets.find(({ id }) => id === fileset);
    return context.json(records?.livedThrough(Number(from), Number(to)) ?? []);
  });
  app.post('/churn', async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined);
    const steps = typeof body === 'object' && body !== null ? Number(Reflect.get(body, 'steps')) : Number.NaN;
    if (!Number.isInteger(steps) || steps < 0 || steps > MAX_CHURN_STEPS) {
      return context.json({ message: `steps: expected a whole number from 0 to ${MAX_CHURN_STEPS}` }, 400);
    }
    return context.json(churn(steps));
  });
  return app;
}

function* calculationRows({ calculations }: PlatformState): Generator<string> {
  for (const sequence of [...calculations.byId()]) yield Buffer.from(calculations.row(sequence)).toString();
}

function* fileRows({ fileSets }: PlatformState, fileSetId: string): Generator<string> {
  for (const row of fileSets.find(({ id }) => id === fileSetId)?.rows() ?? []) yield JSON.stringify(row);
}

const LINES_A_BLOCK = 1000;

/** Sends many lines in each chunk: a chunk for each line would be slow. */
function ndjson(lines: Iterable<string>): Response {
  const iterator = lines[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const block: string[] = [];
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        if (block.push(next.value) === LINES_A_BLOCK) break;
      }
      if (block.length === 0) controller.close();
      else controller.enqueue(encoder.encode(`${block.join('\n')}\n`));
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } });
}

/**
 * Changes records while clients read them. Step n makes the same change in every sandbox that starts with the same
 * records.
 */
type Churn = ReturnType<typeof createChurn>;

function createChurn(state: PlatformState, counter: PlatformCounter) {
  let stepsDone = 0;
  return (steps: number): Readonly<Record<string, number>> => {
    const changes: Record<string, number> = {};
    for (let step = 0; step < steps; step += 1) {
      stepsDone += 1;
      const kind = churnOne(state, randomFor(state.seed, 'churn', stepsDone));
      counter.churned(kind);
      changes[kind] = (changes[kind] ?? 0) + 1;
    }
    return changes;
  };
}

/** The share of changes that affect a file; all others affect a calculation. */
const FILE_CHURN_SHARE = 0.25;

function churnOne(state: PlatformState, random: Random): string {
  const ofFile = random.chance(FILE_CHURN_SHARE) && state.fileSets.length > 0;
  return ofFile ? churnFile(random.pick(state.fileSets), random) : churnCalculation(state, random);
}

function churnFile(fileSet: FileSet, random: Random): string {
  const draw = random.next();
  const rows = fileSet.rows();
  const row = rows[random.below(rows.length)];
  if (draw < 0.35 || row === undefined) {
    fileSet.add();
    return 'file added';
  }
  if (draw < 0.65) {
    fileSet.delete(row.id);
    return 'file deleted';
  }
  fileSet.change(row.id, { indexStatus: random.pick(['QUEUED', 'IN_PROGRESS', 'COMPLETED', 'FAILED']) });
  return 'file changed';
}

function churnCalculation({ calculations }: PlatformState, random: Random): string {
  const draw = random.next();
  const live = calculations.byId();
  const sequence = live[random.below(live.length)];
  if (draw < 0.35 || sequence === undefined) {
    calculations.add();
    return 'calculation added';
  }
  const { id, name, archived } = calculations.at(sequence);
  if (draw < 0.65) {
    calculations.delete(id);
    return 'calculation deleted';
  }
  calculations.change(id, random.chance(0.5) ? { name: `${name} ·` } : { archived: !archived });
  return 'calculation changed';
}
