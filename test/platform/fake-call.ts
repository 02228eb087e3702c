import type { InHand } from '../../lib/base/aws/traced.ts';
import { parseJson, printJson } from '../../lib/base/json/json.ts';
import { createCall } from '../../lib/platform/call.ts';
import { operations } from '../../lib/platform/client.ts';
import { notifyAll, type PlatformEvent } from '../../lib/platform/events.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import type { Send } from '../../lib/platform/http/transport.ts';
import { defaultRetryLimits, type RetryLimits } from '../../lib/platform/retry.ts';
import { fixedToken, type TokenSource } from '../../lib/platform/token.ts';
import { createFakePace } from '../pace/fake-pace.ts';

type AttemptResult = Awaited<ReturnType<Send>>;

type PlatformRequest = Parameters<Send>[0];

/** The outcome of one attempt: a result, or what the fake throws or does instead. */
export type Scripted = AttemptResult | ((signal?: AbortSignal) => Promise<AttemptResult>);

/** A successful response with this JSON, read from its text as the transport does. */
export function ok(value: unknown): AttemptResult {
  const text = printJson(value);
  return { kind: 'response', status: 200, sizeBytes: text.length, response: { text, json: parseJson(text) } };
}

export function failed(failure: PlatformFailure, cause?: unknown): AttemptResult {
  const status = 'status' in failure ? failure.status : undefined;
  return { kind: 'failure', status, sizeBytes: 0, failure, cause };
}

export const status = (code: number, retryAfterMs?: number): AttemptResult =>
  failed({ kind: 'status', status: code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });

export const lost: AttemptResult = failed({ kind: 'connection', phase: 'exchange', code: 'ECONNRESET' });
export const refused: AttemptResult = failed({ kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' });

export type FakeOptions = {
  readonly token?: TokenSource;
  readonly limits?: Partial<RetryLimits>;
  readonly observe?: (event: PlatformEvent) => void;
  readonly random?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly inHand?: InHand;
  /** The decision of the pace for each call in turn: it leaves (after a wait in ms), or the pace throws. */
  readonly turns?: readonly (number | Error | ((signal?: AbortSignal) => Promise<never>))[];
};

/**
 * A call over a scripted `send` (the last result forever), a pace that lets every call leave, and a clock that only
 * `sleep` advances. `log` lists in order what happened: `turn`, `send`, `throttled 7000`, `sleep 7000`.
 */
export function fakeCall(script: readonly Scripted[], options: FakeOptions = {}) {
  const sent: { readonly request: PlatformRequest; readonly token: string }[] = [];
  const slept: number[] = [];
  const events: PlatformEvent[] = [];
  const log: string[] = [];
  // A start value above 0 makes floating-point errors as realistic as with a real clock.
  let nowMs = 1_000_000;
  let turn = 0;

  const pace = createFakePace({
    takeTurn(signal) {
      const waited = options.turns?.[turn] ?? 0;
      turn += 1;
      log.push('turn');
      if (waited instanceof Error) throw waited;
      return typeof waited === 'function' ? waited(signal) : waited;
    },
    now: () => nowMs,
    throttled: (_slot, retryAfterMs) => void log.push(`throttled ${retryAfterMs}`),
  });

  const call = createCall({
    async send(request, token, signal) {
      log.push('send');
      sent.push({ request, token });
      const next = script[sent.length - 1] ?? script.at(-1);
      if (next === undefined) throw new Error('nothing is scripted');
      if (sent.length > 100) throw new Error('sent more than 100 times');
      return typeof next === 'function' ? next(signal) : next;
    },
    token: options.token ?? fixedToken('token'),
    pace,
    observe: notifyAll([(event) => events.push(event), options.observe ?? (() => {})]),
    limits: { ...defaultRetryLimits, ...options.limits },
    inHand: options.inHand,
    timeoutMs: 60_000,
    now: () => nowMs,
    async sleep(ms, signal) {
      log.push(`sleep ${ms}`);
      slept.push(ms);
      nowMs += ms;
      await options.sleep?.(ms, signal);
    },
    random: options.random ?? (() => 0.5),
  });
  return { call, platform: operations(call), sent, slept, events, log };
}
