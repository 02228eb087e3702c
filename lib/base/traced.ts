import { AsyncLocalStorage } from 'node:async_hooks';

/** What names something that is being done: the `request` of an invocation, a `messageId`, `job`, `batch` or `run`. */
type Ids = Readonly<Record<string, string | undefined>>;

const around = new AsyncLocalStorage<Ids>();

/** The ids of all that is being done around the caller: a new object, which each line of the log has. */
export const currentIds = (): Record<string, string | undefined> => ({ ...around.getStore() });

/** Does something under ids, besides those around it. */
export const withIds = <T>(ids: Ids, act: () => T): T => around.run({ ...around.getStore(), ...ids }, act);

/** Also as a span, if a provider of OpenTelemetry is registered: its attributes are the ids after `platform_sync.`. */
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

/** Its `SpanStatusCode.ERROR`. */
const ERROR = 2;

type Tracer = {
  readonly startActiveSpan: <T>(
    name: string,
    options: { readonly attributes: Readonly<Record<string, unknown>> },
    act: (span: Span) => T,
  ) => T;
};
type Span = {
  readonly recordException: (error: unknown) => void;
  readonly setStatus: (status: { readonly code: number }) => unknown;
  readonly end: () => void;
};

/** Where `@opentelemetry/api` 1.x registers what a process has: read there, it need not be installed. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

function tracerHere(): Tracer | undefined {
  const { [REGISTERED]: api } = globalThis as {
    readonly [REGISTERED]?: { readonly trace?: { readonly getTracer: (name: string) => Tracer } };
  };
  return api?.trace?.getTracer('platform-sync');
}

/** What is being done at the moment: for a line of the log when a process is about to be stopped. */
export type InHand = {
  /** From now until the end of the block that holds it (`using`). `facts` are logged as they are. */
  readonly hold: (facts: Readonly<Record<string, unknown>>) => Disposable;
  /** The facts of all that is held, the oldest first, each with the milliseconds since it began: at most `most`. */
  readonly list: (most: number) => readonly Readonly<Record<string, unknown>>[];
  readonly size: () => number;
};

export function createInHand(now: () => number = Date.now): InHand {
  const held = new Set<{ readonly facts: Readonly<Record<string, unknown>>; readonly sinceMs: number }>();
  return {
    hold(facts) {
      const one = { facts, sinceMs: now() };
      held.add(one);
      return { [Symbol.dispose]: () => void held.delete(one) };
    },
    list: (most) =>
      [...held].slice(0, most).map(({ facts, sinceMs }) => ({ ...facts, forMs: now() - sinceMs })),
    size: () => held.size,
  };
}
