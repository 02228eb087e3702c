import { type InHand, type NetworkEnvironment, proxyOf } from '../base/aws/index.ts';
import { sleep } from '../base/index.ts';
import type { Pace } from '../pace/index.ts';
import { type Call, createCall, type TrackSent } from './call.ts';
import { operations, type Platform } from './client.ts';
import type { Observe } from './events.ts';
import { createBodyBudget } from './http/body.ts';
import { createExchange } from './http/exchange.ts';
import { createTransport } from './http/transport.ts';
import { defaultRetryLimits, type RetryLimits } from './retry.ts';
import type { TokenSource } from './token.ts';

/** Options for a client. Times are in milliseconds. */
export type PlatformOptions = {
  /** The instance's origin, such as `https://acme.example.com`. */
  readonly baseUrl: string;
  /** Where the token comes from: `fixedToken` or `secretToken`. */
  readonly token: TokenSource;
  /** The header that carries the token. Default `X-SERVICE-Developer-Token`. */
  readonly tokenHeader?: string;
  /** Decides when calls leave (see `createLocalPace`). All clients of a process should share one pace. */
  readonly pace: Pace;
  /** The time limit for one attempt; code functions have their own limit of 330,000. Default 60,000. */
  readonly timeoutMs?: number;
  /**
   * Maximum bytes of a decompressed body. Default 100 MiB. A response that is parsed and can be fetched again
   * may also have at most a million values.
   */
  readonly maxResponseBytes?: number;
  /**
   * Limits the memory of bodies that are being received. All clients of a process should share one budget. Default:
   * 32 MiB for this client.
   */
  readonly bodies?: ReturnType<typeof createBodyBudget>;
  /** Overrides of the retry limits. Default: at most 8 retries and 5 minutes a call (see `RetryLimits`). */
  readonly retry?: Partial<RetryLimits>;
  /** Called for each event of a call; errors that it throws are ignored. */
  readonly observe?: Observe;
  /** Keeps a list of the calls in progress, for the log of a process that is about to be stopped. Default: no list. */
  readonly inHand?: InHand | undefined;
  /**
   * Called when a request is sent that must not be aborted when the process stops. The process should stop only
   * after the returned value was disposed of. Default: not called.
   */
  readonly trackSent?: TrackSent | undefined;
  /** The environment with `HTTPS_PROXY`, `NO_PROXY` and `AWS_CA_BUNDLE`. Default: no proxy. */
  readonly proxyEnv?: NetworkEnvironment;
};

/**
 * Opens the calls of a client. Returns a function that creates a call with its own retry limits. All calls share the
 * connections.
 */
export function openCalls(options: PlatformOptions): (retry?: Partial<RetryLimits>) => Call {
  const parts = {
    send: createTransport({
      baseUrl: new URL(options.baseUrl),
      tokenHeader: options.tokenHeader ?? 'X-SERVICE-Developer-Token',
      maxResponseBytes: options.maxResponseBytes ?? 104_857_600,
      bodies: options.bodies ?? createBodyBudget(),
      exchange: createExchange(options.proxyEnv),
      proxy: proxyOf(new URL(options.baseUrl), options.proxyEnv ?? {}),
      now: Date.now,
    }),
    token: options.token,
    pace: options.pace,
    observe: options.observe ?? (() => undefined),
    host: new URL(options.baseUrl).host,
    inHand: options.inHand,
    trackSent: options.trackSent,
    timeoutMs: options.timeoutMs ?? 60_000,
    now: () => performance.now(),
    sleep,
    random: Math.random,
    methods: new Map(),
  };
  return (retry) => createCall({ ...parts, limits: { ...defaultRetryLimits, ...options.retry, ...retry } });
}

/**
 * Creates a client. The first call opens the connection. The operations throw `PlatformError`.
 *
 * ```ts
 * const platform = createPlatform({ baseUrl: 'https://acme.example.com', token: fixedToken('…'), pace:
 * createLocalPace({ rate: 2, concurrency: 8 }), }); for await (const { rows } of
 * platform.files.pages(filesetId)) console.log(rows.length);
 * ```
 */
export const createPlatform = (options: PlatformOptions): Platform => operations(openCalls(options)());
