import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { type ChurnCounts, createChurn } from './churn.ts';
import { createPlatformCounter, type PlatformCounts } from './counts.ts';
import { createFunctionRunner, type RunFunction } from './functions/run-function.ts';
import { deliver } from './http/deliver.ts';
import { createServe, type ServeOptions } from './http/serve-api.ts';
import type { Operation } from './operations/operation.ts';
import { operations } from './operations/operations.ts';
import { type AppOptions, checkAppOptions, type ResolvedAppOptions } from './options.ts';
import { type PlatformIds, platformIds } from './platform-ids.ts';
import { randomFor } from './records/random.ts';
import { calculationRows, fileRows, type SandboxParts, sandboxRoutes } from './sandbox-routes.ts';
import type { PlatformState } from './state.ts';

/** The reference platform without a connection, and what tests need from it. */
export type PlatformApp = {
  /** Responds to a request. Without `bindings` a reset rejects, and a cut body fails while it is read. */
  fetch(request: Request, bindings?: Partial<HttpBindings>): Promise<Response>;
  readonly token: string;
  readonly tokenHeader: string;
  readonly state: PlatformState;
  counts(): PlatformCounts;
  /** The search row of every calculation, exactly as it is served, in the order of ids. */
  calculations(): Generator<string>;
  /** Every row of a FileSet, exactly as it is served, in the order of creation. */
  files(fileSetId: string): Generator<string>;
  ids(): PlatformIds;
  /** The ids of calculations that existed the whole time, in ascending order; epoch milliseconds by `now`. */
  livedThrough(fromMs: number, toMs: number): readonly string[];
  churn(steps: number): ChurnCounts;
  /** Accepts only this token from now on: the old one is revoked. */
  setToken(token: string): void;
  close(): void;
};

/** Throws a `TypeError` that names every wrong option. */
export function createPlatformApp(state: PlatformState, options: AppOptions = {}): PlatformApp {
  const resolved = checkAppOptions(options);
  const counter = createPlatformCounter();
  const churn = createChurn(state, counter);
  const closing = new AbortController();
  let token = resolved.token;
  const app = createApp({
    state,
    options: resolved,
    counter,
    churn,
    runCodeFunction: functionRunner(state, resolved),
    token: () => token,
    closing: closing.signal,
  });
  return {
    fetch: async (request, bindings = {}) => app.fetch(request, bindings),
    get token() {
      return token;
    },
    tokenHeader: resolved.tokenHeader,
    state,
    counts: counter.read,
    calculations: () => calculationRows(state),
    files: (fileSetId) => fileRows(state, fileSetId),
    ids: () => platformIds(state),
    livedThrough: state.calculations.livedThrough,
    churn: churn.run,
    setToken(next) {
      token = next;
    },
    close: () => closing.abort(),
  };
}

function functionRunner({ seed, now }: PlatformState, options: ResolvedAppOptions): RunFunction {
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
  });
}

type Environment = { Bindings: Partial<HttpBindings> };

function createApp(parts: ServeOptions & SandboxParts): Hono<Environment> {
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
  // An error thrown here stands for a broken connection; no other error is expected.
  app.onError((error) => {
    throw error;
  });
  return app;
}
