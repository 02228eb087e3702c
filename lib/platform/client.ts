import { type InHand, type ProxyEnvironment, sleep } from '../base/index.ts';
import type { Pace } from '../pace/pace.ts';
import type { HoldLeft } from './attempt.ts';
import { type Call, type CallOptions, createCall } from './call.ts';
import type { Observe } from './events.ts';
import { createExchange } from './http/exchange.ts';
import { type BodyBudget, createBodyBudget } from './http/read-body.ts';
import { createTransport } from './http/transport.ts';
import { analyzeSentiment, type SentimentRequest } from './operations/analyze-sentiment.ts';
import { getDataFile } from './operations/get-data-file.ts';
import { listCards } from './operations/list-cards.ts';
import { type FunctionCall, runFunction } from './operations/run-function.ts';
import { type CalculationSearch, searchCalculations } from './operations/search-calculations.ts';
import type { FileSearch } from './operations/search-files.ts';
import { updateFormula } from './operations/update-formula.ts';
import { calculationPages, filePages, type PagesOptions, pageOf } from './pages.ts';
import { defaultRetryLimits, type RetryLimits } from './retry.ts';
import type { TokenSource } from './token.ts';

/** Options for a client. Times in milliseconds. */
export type PlatformOptions = {
  /** The instance's origin, such as `https://acme.example.com`. */
  readonly baseUrl: string;
  readonly token: TokenSource;
  /** Default `X-SERVICE-Developer-Token`. */
  readonly tokenHeader?: string;
  /** Decides when calls leave; share one among all clients of a process. */
  readonly pace: Pace;
  /** The limit for one attempt; code functions have their own limit of 330,000. Default 60,000. */
  readonly timeoutMs?: number;
  /** Bytes of a decompressed body. Default 100 MiB; what is parsed and can be fetched again has at most a million values. */
  readonly maxResponseBytes?: number;
  /** Bounds the memory of bodies that are being received; share one among all clients of a process. Default: its own. */
  readonly bodies?: BodyBudget;
  readonly retry?: Partial<RetryLimits>;
  /** Called for everything that happens to a call; errors that it throws are ignored. */
  readonly observe?: Observe;
  /** Holds each call from its beginning to its end. Default: nothing does. */
  readonly inHand?: InHand | undefined;
  /** Holds each call that has left and is not given up by a stop. Default: nothing does. */
  readonly holdLeft?: HoldLeft | undefined;
  /** Where `HTTPS_PROXY` and `NO_PROXY` are looked up. Default: no proxy. */
  readonly proxyEnv?: ProxyEnvironment;
};

type Id = string | number | bigint;

/** Makes a client. Opens no connection until the first call. */
export function createPlatform(options: PlatformOptions): Platform {
  const call = createCall({
    send: createTransport({
      baseUrl: new URL(options.baseUrl),
      tokenHeader: options.tokenHeader ?? 'X-SERVICE-Developer-Token',
      maxResponseBytes: options.maxResponseBytes ?? 104_857_600,
      bodies: options.bodies ?? createBodyBudget(),
      exchange: createExchange(options.proxyEnv),
      now: Date.now,
    }),
    token: options.token,
    pace: options.pace,
    observe: options.observe ?? (() => undefined),
    limits: { ...defaultRetryLimits, ...options.retry },
    host: new URL(options.baseUrl).host,
    inHand: options.inHand,
    holdLeft: options.holdLeft,
    timeoutMs: options.timeoutMs ?? 60_000,
    now: () => performance.now(),
    sleep,
    random: Math.random,
  });
  return operations(call);
}

/** The platform's seven operations. Every method throws `PlatformError`, or passes the caller's abort through. */
export type Platform = ReturnType<typeof operations>;

/** The operations over any `call`: the real one, or a fake in a test. */
export const operations = (call: Call) => ({
  /** The one call that all of these go through: any endpoint, validated or as received. */
  call,
  calculations: {
    /** One page; `pages` reads all of them, each when the loop asks for it. */
    search: (search: CalculationSearch, options?: CallOptions) =>
      call(searchCalculations, { body: { ...search } }, options).then(pageOf),
    pages: (search: CalculationSearch, options?: PagesOptions) => calculationPages(call, search, options),
    /** Never sent twice. `strict` refuses a formula that does not parse instead of storing it as INVALID. */
    updateFormula: (
      calculationId: Id,
      expression: string,
      { strict, ...options }: CallOptions & { readonly strict?: boolean } = {},
    ) => call(updateFormula, { path: { calculationId }, query: { strict }, body: { expression } }, options),
  },
  files: {
    pages: (filesetId: string, search?: FileSearch, options?: PagesOptions) =>
      filePages(call, filesetId, search, options),
  },
  cards: {
    /** `drill` adds cards that use the dataset only in a drill path; true by default, as on the platform. */
    ofDataset: (datasetId: string, { drill, ...options }: CallOptions & { readonly drill?: boolean } = {}) =>
      call(listCards, { path: { datasetId }, query: { drill } }, options),
  },
  functions: {
    /** Never sent twice. A failed execution is returned like any other: look at its `status`. */
    run: ({ packageId, version, functionName, ...body }: FunctionCall, options?: CallOptions) =>
      call(runFunction, { path: { packageId, version, functionName }, body }, options),
  },
  sentiment: {
    analyze: ({ text, ...rest }: SentimentRequest, options?: CallOptions) => {
      const kind = (rest.topics ?? []).length > 0 ? { targetedSentiment: true } : { simpleSentiment: true };
      return call(analyzeSentiment, { body: { input: [{ type: 'TEXT', text }], ...rest, ...kind } }, options);
    },
  },
  dataFiles: {
    /** `expand`: any of `revisions` and `metadata`. */
    get: (
      dataFileId: Id,
      { expand, ...options }: CallOptions & { readonly expand?: readonly string[] } = {},
    ) => call(getDataFile, { path: { dataFileId }, query: { expand: expand?.join(',') } }, options),
  },
});
