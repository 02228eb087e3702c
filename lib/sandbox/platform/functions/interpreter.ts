import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSSyncVariant,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { assumptions } from '../assumptions.ts';

/** How a call ended. `broken`: the interpreter itself failed, for example because Node's stack overflowed inside it. */
type Outcome =
  | GuestOutcome
  | { readonly kind: 'time-limit'; readonly timeLimitMs: number }
  | { readonly kind: 'memory-limit'; readonly memoryLimitBytes: number }
  | { readonly kind: 'broken'; readonly message: string };

type InterpreterLimits = {
  readonly timeLimitMs: number;
  readonly memoryLimitBytes: number;
  readonly monotonicMs: () => number;
};

/**
 * Creates an interpreter: JavaScript in WebAssembly (QuickJS), with a runtime for each call. A function
 * blocks the event loop until it ends or reaches the time limit, which is checked between steps: one long
 * built-in operation can exceed it. The interpreter calls a function and waits for its result; it never
 * throws because of what the function does.
 */
export function createInterpreter(limits: InterpreterLimits): (call: GuestCall) => Promise<Outcome> {
  let loading: Promise<Engine> | undefined;

  return async function interpret(call) {
    loading ??= loadEngine(limits.memoryLimitBytes);
    const loaded = loading;
    const engine = await loaded;
    if (loaded !== loading) return interpret(call);

    const { outcome, isReusable } = interpretOnce(engine, call, limits);
    if (!isReusable) loading = undefined;
    return outcome;
  };
}

type Engine = { readonly module: QuickJSWASMModule; readonly isFull: () => boolean };

const PAGE_BYTES = 65_536;

/**
 * Loads the engine. QuickJS's own limit hardly works here, since this allocator does not report block sizes,
 * so the memory itself is limited.
 */
async function loadEngine(memoryLimitBytes: number): Promise<Engine> {
  const { newQuickJSWASMModuleFromVariant, newVariant } = await import('quickjs-emscripten-core');
  const initial = assumptions.minFunctionMemoryBytes / PAGE_BYTES;
  const wasmMemory = new WebAssembly.Memory({ initial, maximum: Math.floor(memoryLimitBytes / PAGE_BYTES) });
  const variant = newVariant(await importVariant(), { wasmMemory });
  const module = await newQuickJSWASMModuleFromVariant(variant);
  // The memory grows by at least a twentieth at a time, so it may stop a twentieth below the limit.
  return { module, isFull: () => wasmMemory.buffer.byteLength > 0.9 * memoryLimitBytes };
}

/**
 * Imports QuickJS. Its types describe the CommonJS form, where `default` is one level deeper than in the ES module that
 * Node loads.
 */
async function importVariant(): Promise<QuickJSSyncVariant> {
  const loaded: { readonly default: unknown } = await import('@jitl/quickjs-wasmfile-release-sync');
  return loaded.default as QuickJSSyncVariant;
}

/**
 * Calls a function in an engine. An engine that reached a limit is not freed, but left to the garbage
 * collector: interrupted code cannot always be freed, its memory never shrinks, and after an exception from
 * Node its stack pointer is wrong.
 */
function interpretOnce(
  engine: Engine,
  call: GuestCall,
  limits: InterpreterLimits,
): { readonly outcome: Outcome; readonly isReusable: boolean } {
  const { timeLimitMs, memoryLimitBytes, monotonicMs } = limits;
  const timedOut = { outcome: { kind: 'time-limit', timeLimitMs }, isReusable: false } as const;
  const startedMs = monotonicMs();
  let late = false;
  const isLate = () => {
    late ||= monotonicMs() - startedMs > timeLimitMs;
    return late;
  };
  try {
    const runtime = engine.module.newRuntime({
      interruptHandler: isLate,
      maxStackSizeBytes: assumptions.functionStackBytes,
    });
    const outcome = callGuest(runtime, call, isLate);
    if (late) return timedOut;
    if (isOutOfMemory(outcome, engine)) {
      return { outcome: { kind: 'memory-limit', memoryLimitBytes }, isReusable: false };
    }
    return { outcome, isReusable: release(runtime) && !engine.isFull() };
  } catch (error) {
    // An interruption before the function is called throws here.
    if (late) return timedOut;
    return { outcome: { kind: 'broken', message: describeThrown(error) }, isReusable: false };
  }
}

/**
 * Frees a runtime. False if QuickJS lost track of a block, which can happen if memory ran out and the
 * function caught the error.
 */
function release(runtime: QuickJSRuntime): boolean {
  try {
    runtime.dispose();
    return true;
  } catch {
    return false;
  }
}

/** Whether memory ran out. If there was no room even for the error, null or an empty string was thrown instead. */
function isOutOfMemory(outcome: GuestOutcome, engine: Engine): boolean {
  if (outcome.kind !== 'thrown') return false;
  const { message } = outcome;
  return message === 'InternalError: out of memory' || (engine.isFull() && ['', 'null'].includes(message));
}

type GuestCall = {
  readonly source: string;
  readonly values: readonly unknown[];
  readonly write: CapturedLog['write'];
};

type GuestOutcome =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'undefined' }
  | { readonly kind: 'thrown'; readonly message: string }
  | { readonly kind: 'unsettled' };

/** Runs the function in a fresh context, with its pending jobs. Throws only if the interpreter itself fails. */
function callGuest(runtime: QuickJSRuntime, call: GuestCall, isLate: () => boolean): GuestOutcome {
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

/**
 * Runs the pending jobs in slices: an interrupt rejects only the current promise, and a chain of promises may continue
 * after it.
 */
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
  return { kind: 'thrown', message: describeThrown(dumped).slice(0, assumptions.maxMessageCharacters) };
}

/** A thrown value as a message: `RangeError: too far` for an error, a string unchanged, JSON for other objects. */
function describeThrown(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  if (!('message' in error)) return JSON.stringify(error);
  return 'name' in error && error.name ? `${error.name}: ${error.message}` : `${error.message}`;
}

/**
 * Evaluates to `(writeLog) => (fn, argumentsJson) => Promise<resultJson | undefined>` inside the interpreter. It has
 * its own references to globals, so a function that replaces a global does not affect it.
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
  const out = logTo('stdout');
  const err = logTo('stderr');
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err };

  return async (fn, argumentsJson) => {
    const value = await fn(...parse(argumentsJson));
    if (value === undefined) return undefined;
    const json = stringify(value);
    if (json === undefined) throw new TypeError('a ' + typeof value + ' cannot be a result');
    return json;
  };
}`;

/** The entries that a function's console wrote, as JSON values in order. */
export type CapturedLog = {
  /** Adds an entry. Beyond the limits it adds a single marker and returns `full`. */
  write(stream: 'stdout' | 'stderr', json: string): 'open' | 'full';
  entries(stream: 'stdout' | 'stderr'): readonly unknown[];
};
