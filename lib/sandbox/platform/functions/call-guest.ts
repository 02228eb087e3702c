import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import { assumed } from './assumed.ts';
import type { CapturedLog } from './captured-log.ts';

export type GuestCall = {
  readonly source: string;
  readonly values: readonly unknown[];
  readonly write: CapturedLog['write'];
};

export type GuestOutcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'thrown'; readonly message: string }
  | { readonly kind: 'unsettled' };

/** Runs the function in a fresh context, with its pending jobs. Throws only if the interpreter itself fails. */
export function callGuest(runtime: QuickJSRuntime, call: GuestCall, isLate: () => boolean): GuestOutcome {
  using context = runtime.newContext();
  using caller = prepareCaller(context, call);
  using source = context.evalCode(`(${call.source})`, 'function.js', { type: 'global', strict: true });
  if (source.error) return thrown(context, source.error);

  using argumentsJson = context.newString(JSON.stringify(call.values));
  using promise = context.callFunction(caller, context.undefined, source.value, argumentsJson);
  if (promise.error) return thrown(context, promise.error);
  runPendingJobs(runtime, isLate);
  return outcomeOf(context, promise.value);
}

function prepareCaller(context: QuickJSContext, { write }: GuestCall): QuickJSHandle {
  using setUp = context.unwrapResult(
    context.evalCode(GUEST_CODE, 'guest.js', { type: 'global', strict: true }),
  );
  using writeLog = context.newFunction('writeLog', (stream, json) => {
    const name = context.getString(stream) === 'stderr' ? 'stderr' : 'stdout';
    return context.newString(write(name, context.getString(json)));
  });
  return context.unwrapResult(context.callFunction(setUp, context.undefined, writeLog));
}

/** In slices: an interrupt rejects only the current promise, and a chain of promises may continue after it. */
function runPendingJobs(runtime: QuickJSRuntime, isLate: () => boolean): void {
  const jobsInSlice = 100;
  while (runtime.hasPendingJob() && !isLate()) {
    using _slice = runtime.executePendingJobs(jobsInSlice);
  }
}

function outcomeOf(context: QuickJSContext, promise: QuickJSHandle): GuestOutcome {
  const state = context.getPromiseState(promise);
  if (state.type === 'pending') return { kind: 'unsettled' };
  if (state.type === 'rejected') {
    using error = state.error;
    return thrown(context, error);
  }
  using value = state.value;
  if (context.typeof(value) === 'undefined') return { kind: 'undefined' };
  return { kind: 'value', value: JSON.parse(context.getString(value)) };
}

function thrown(context: QuickJSContext, error: QuickJSHandle): GuestOutcome {
  const dumped: unknown = context.dump(error);
  return { kind: 'thrown', message: describeThrown(dumped).slice(0, assumed.messageCharacters) };
}

/** `RangeError: too far` for an error, text unchanged, JSON for other objects. */
export function describeThrown(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if (!('message' in error)) return JSON.stringify(error);
  return 'name' in error && error.name ? `${error.name}: ${error.message}` : `${error.message}`;
}

/**
 * Evaluates to `(writeLog) => (fn, argumentsJson) => Promise<resultJson | undefined>` inside the interpreter. It uses
 * its own references: a function that replaces a global changes nothing here.
 */
const GUEST_CODE = `(writeLog) => {
  const { parse, stringify } = JSON;
  const { TypeError, Error, String } = globalThis;

  const jsonOf = (value) => {
    try {
      return value instanceof Error ? undefined : stringify(value);
    } catch {}
  };
  const textOf = (value) => {
    try {
      return String(value);
    } catch {
      return '[unprintable]';
    }
  };
  const toJson = (value) => jsonOf(value) ?? stringify(textOf(value));
  const toText = (value) => (typeof value === 'string' ? value : (jsonOf(value) ?? textOf(value)));
  const logTo = (stream) => {
    let state = 'open';
    return (...values) => {
      if (state === 'full') return;
      state = writeLog(stream, values.length === 1 ? toJson(values[0]) : stringify(values.map(toText).join(' ')));
    };
  };
  const [out, err] = [logTo('stdout'), logTo('stderr')];
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err };

  return async (fn, argumentsJson) => {
    const value = await fn(...parse(argumentsJson));
    if (value === undefined) return undefined;
    const json = stringify(value);
    if (json === undefined) throw new TypeError('a ' + typeof value + ' cannot be a result');
    return json;
  };
}`;
