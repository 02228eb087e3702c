import type { QuickJSRuntime, QuickJSSyncVariant, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { assumed } from './assumed.ts';
import { callGuest, describeThrown, type GuestCall, type GuestOutcome } from './call-guest.ts';

/** How a call ended. `broken`: the interpreter itself failed, for example because Node's stack overflowed inside it. */
export type Outcome =
  | GuestOutcome
  | { readonly kind: 'time-limit'; readonly timeLimitMs: number }
  | { readonly kind: 'memory-limit'; readonly memoryLimitBytes: number }
  | { readonly kind: 'broken'; readonly message: string };

type InterpreterLimits = {
  readonly timeLimitMs: number;
  readonly memoryLimitBytes: number;
  readonly monotonicMs: () => number;
};

/** Calls a function and waits for its result; never throws because of what the function does. */
type Interpret = (call: GuestCall) => Promise<Outcome>;

/**
 * JavaScript in WebAssembly (QuickJS), a runtime a call. A function blocks the event loop until it ends or reaches the
 * time limit, which is checked between steps: one long built-in operation can overrun it.
 */
export function createInterpreter(limits: InterpreterLimits): Interpret {
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

/** QuickJS's own limit hardly works here, since this allocator reports no block sizes: the memory is the limit. */
async function loadEngine(memoryLimitBytes: number): Promise<Engine> {
  const { newQuickJSWASMModuleFromVariant, newVariant } = await import('quickjs-emscripten-core');
  const initial = assumed.lowestMemoryLimitBytes / PAGE_BYTES;
  const wasmMemory = new WebAssembly.Memory({ initial, maximum: Math.floor(memoryLimitBytes / PAGE_BYTES) });
  const variant = newVariant(await importVariant(), { wasmMemory });
  const module = await newQuickJSWASMModuleFromVariant(variant);
  // The memory grows by a twentieth or more at a time, so it may stop that far below the limit.
  return { module, isFull: () => wasmMemory.buffer.byteLength > 0.9 * memoryLimitBytes };
}

/** Its types describe the CommonJS form, where the default is one level deeper than in the ES module that Node loads. */
async function importVariant(): Promise<QuickJSSyncVariant> {
  const loaded: { readonly default: unknown } = await import('@jitl/quickjs-wasmfile-release-sync');
  return loaded.default as QuickJSSyncVariant;
}

type Interpretation = { readonly outcome: Outcome; readonly isReusable: boolean };

/**
 * An engine that reached a limit is left to the garbage collector, runtime and all: interrupted code cannot always be
 * freed, its memory never shrinks, and after an exception from Node its stack pointer is wrong.
 */
function interpretOnce(engine: Engine, call: GuestCall, limits: InterpreterLimits): Interpretation {
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
      maxStackSizeBytes: assumed.stackLimitBytes,
    });
    const outcome = callGuest(runtime, call, isLate);
    if (late) return timedOut;
    if (isOutOfMemory(outcome, engine)) {
      return { outcome: { kind: 'memory-limit', memoryLimitBytes }, isReusable: false };
    }
    return { outcome, isReusable: release(runtime) && !engine.isFull() };
  } catch (error) {
    // What is interrupted before the function is called throws here.
    if (late) return timedOut;
    return { outcome: { kind: 'broken', message: describeThrown(error) }, isReusable: false };
  }
}

/** False if QuickJS lost track of a block, which can happen when memory ran out and the function caught the error. */
function release(runtime: QuickJSRuntime): boolean {
  try {
    runtime.dispose();
    return true;
  } catch {
    return false;
  }
}

/** When memory is full there may be no room for the error itself: then null or an empty text is thrown. */
function isOutOfMemory(outcome: GuestOutcome, engine: Engine): boolean {
  if (outcome.kind !== 'thrown') return false;
  const { message } = outcome;
  return message === 'InternalError: out of memory' || (engine.isFull() && ['', 'null'].includes(message));
}
