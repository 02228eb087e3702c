import type { QuickJSRuntime, QuickJSSyncVariant, QuickJSWASMModule } from 'quickjs-emscripten-core';
import { assumed } from './assumed.ts';
import { callGuest, describeThrown, type GuestCall, type GuestOutcome } from './call-guest.ts';

/** How a call ended. `broken`: the interpreter itself gave up, as when Node's stack ends inside it. */
export type Outcome =
  | GuestOutcome
  | { readonly kind: 'time-limit'; readonly timeLimitMs: number }
  | { readonly kind: 'memory-limit'; readonly memoryLimitBytes: number }
  | { readonly kind: 'broken'; readonly message: string };

/** The limits of one call; `monotonicMs` is a clock that never goes back. */
export type InterpreterLimits = {
  readonly timeLimitMs: number;
  readonly memoryLimitBytes: number;
  readonly monotonicMs: () => number;
};

/** Calls a function and waits for what it returns; never throws for what the function does. */
export type Interpret = (call: GuestCall) => Promise<Outcome>;

/**
 * An interpreter of JavaScript in WebAssembly (QuickJS), loaded by the first call. Each call has a runtime of its own,
 * with nothing of Node's in it: text goes in, text comes out. A function holds this process's event loop until it
 * ends or meets the time limit, which is looked at between steps: one long built-in operation overruns it.
 */
export function createInterpreter(limits: InterpreterLimits): Interpret {
  let loading: Promise<Engine> | undefined;

  return async function interpret(call) {
    loading ??= loadEngine(limits.memoryLimitBytes);
    const mine = loading;
    const engine = await mine;
    if (mine !== loading) return interpret(call);

    const { outcome, isReusable } = interpretOnce(engine, call, limits);
    if (!isReusable) loading = undefined;
    return outcome;
  };
}

type Engine = { readonly module: QuickJSWASMModule; readonly isFull: () => boolean };

const pageBytes = 65_536;

/** QuickJS's own limit hardly counts here (it learns no block's size from this allocator): the memory is the limit. */
async function loadEngine(memoryLimitBytes: number): Promise<Engine> {
  const { newQuickJSWASMModuleFromVariant, newVariant } = await import('quickjs-emscripten-core');
  const initial = assumed.lowestMemoryLimitBytes / pageBytes;
  const wasmMemory = new WebAssembly.Memory({ initial, maximum: Math.floor(memoryLimitBytes / pageBytes) });
  const variant = newVariant(await importVariant(), { wasmMemory });
  const module = await newQuickJSWASMModuleFromVariant(variant);
  // It grows by a twentieth or more at a time, and so may stop that far below the limit.
  return { module, isFull: () => wasmMemory.buffer.byteLength > 0.9 * memoryLimitBytes };
}

/** Its types describe the CommonJS form, where the default lies one deeper than in the ES module that Node loads. */
async function importVariant(): Promise<QuickJSSyncVariant> {
  const loaded: { readonly default: unknown } = await import('@jitl/quickjs-wasmfile-release-sync');
  return loaded.default as QuickJSSyncVariant;
}

type Interpretation = { readonly outcome: Outcome; readonly isReusable: boolean };

/**
 * An engine that met a limit is left as it is, runtime and all, to the garbage collector: what was interrupted cannot
 * always be freed, its memory never shrinks, and after an exception of Node's its stack pointer is off.
 */
function interpretOnce(engine: Engine, call: GuestCall, limits: InterpreterLimits): Interpretation {
  const { timeLimitMs, memoryLimitBytes, monotonicMs } = limits;
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
    if (late) return { outcome: { kind: 'time-limit', timeLimitMs }, isReusable: false };
    if (isOutOfMemory(outcome, engine)) {
      return { outcome: { kind: 'memory-limit', memoryLimitBytes }, isReusable: false };
    }
    return { outcome, isReusable: release(runtime) && !engine.isFull() };
  } catch (error) {
    return { outcome: { kind: 'broken', message: describeThrown(error) }, isReusable: false };
  }
}

/** False where QuickJS lost track of a block, as it may when memory ran out and the function caught that. */
function release(runtime: QuickJSRuntime): boolean {
  try {
    runtime.dispose();
    return true;
  } catch {
    return false;
  }
}

/** In a full memory there may be no room left for the error itself: then null or empty text is what was thrown. */
function isOutOfMemory(outcome: GuestOutcome, engine: Engine): boolean {
  if (outcome.kind !== 'thrown') return false;
  const { message } = outcome;
  return message === 'InternalError: out of memory' || (engine.isFull() && ['', 'null'].includes(message));
}
