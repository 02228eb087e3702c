import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids of the current work: the `request` of an invocation, a `messageId`, `job`, `batch` or `run`. */
type Ids = Readonly<Record<string, string | undefined>>;

const around = new AsyncLocalStorage<Ids>();

/** A copy of the ids of the current work, which every log line has. */
export const currentIds = (): Record<string, string | undefined> => ({ ...around.getStore() });

/** Runs `act` with these ids, in addition to the current ids. */
export const withIds = <T>(ids: Ids, act: () => T): T => around.run({ ...around.getStore(), ...ids }, act);

/**
 * Runs `act` with these ids, and as a span if a provider of OpenTelemetry is registered. The span's attributes are the
 * ids, prefixed with `platform_sync.`.
 */
export const traced = <T>(name: string, ids: Ids, act: () => Promise<T>): Promise<T> =>
  withIds(ids, () => {
    const tracer = tracerHere();
    return tracer === undefined ? act() : inSpan(tracer, name, act);
  });

function inSpan<T>(tracer: Tracer, name: string, act: () => Promise<T>): Promise<T> {
  const ids = Object.entries(currentIds()).filter(([, id]) => id !== undefined);
  const attributes = Object.fromEntries(ids.map(([key, id]) => [`platform_sync.${key}`, id]));
  return tracer.startActiveSpan(`platform-sync ${name}`, { attributes }, async (span) => {
    try {
      return await act();
    } catch (error) {
      span.recordException(error);
      span.setStatus({ code: ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The value of OpenTelemetry's `SpanStatusCode.ERROR`. */
const ERROR = 2;

type Tracer = {
  readonly startActiveSpan: <T>(
    name: string,
    options: { readonly attributes: Readonly<Record<string, unknown>> },
    act: (span: {
      readonly recordException: (error: unknown) => void;
      readonly setStatus: (status: { readonly code: number }) => unknown;
      readonly end: () => void;
    }) => T,
  ) => T;
};

/**
 * The global symbol under which `@opentelemetry/api` 1.x registers the providers of a process. Using it avoids a
 * dependency on that package.
 */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

function tracerHere(): Tracer | undefined {
  const { [REGISTERED]: api } = globalThis as {
    readonly [REGISTERED]?: { readonly trace?: { readonly getTracer: (name: string) => Tracer } };
  };
  return api?.trace?.getTracer('platform-sync');
}

/** The work in progress, which a process logs when it is about to be stopped. */
export type InHand = {
  /**
   * Adds the facts of some work, which are logged unchanged. Dispose of the return value (`using`) when the work
   * ends.
   */
  readonly hold: (facts: Readonly<Record<string, unknown>>) => Disposable;
  /** At most `max` of the current facts, the oldest first, each with the milliseconds since it began. */
  readonly list: (max: number) => readonly Readonly<Record<string, unknown>>[];
  readonly size: () => number;
};

/** Creates an empty list of work in progress. */
export function createInHand(now: () => number = Date.now): InHand {
  const held = new Set<{ readonly facts: Readonly<Record<string, unknown>>; readonly sinceMs: number }>();
  return {
    hold(facts) {
      const one = { facts, sinceMs: now() };
      held.add(one);
      return { [Symbol.dispose]: () => void held.delete(one) };
    },
    list: (max) =>
      [...held].slice(0, max).map(({ facts, sinceMs }) => ({ ...facts, forMs: now() - sinceMs })),
    size: () => held.size,
  };
}
