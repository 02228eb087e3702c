import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorContext } from './error-response.ts';
import { usualErrors } from './error-shapes.ts';
import { faults } from './fault-kinds.ts';
import { faultFor } from './fault-plan.ts';
import { type Delivery, faultyDelivery } from './faulty-delivery.ts';
import { type ApiRequest, type Backend, perform } from './perform.ts';
import { createThrottle } from './throttle.ts';

export type ServeOptions = Backend & {
  /** Ends requests that wait because of latency. */
  readonly closing: AbortSignal;
};

/**
 * The path of a request: counted when it arrives, then the limiter, latency, a fault before the work, the work, a fault
 * after it. If the limiter or an early fault stops it, no work is done.
 */
export function createServe(parts: ServeOptions): (api: ApiRequest) => Promise<Delivery> {
  const { state, options, counter, closing } = parts;
  const throttle = createThrottle({ ...options, now: state.now });

  const proceed = async (api: ApiRequest, context: ErrorContext): Promise<Delivery> => {
    if (options.latencyMs > 0) await sleep(options.latencyMs, undefined, { signal: closing });
    const kind = faultFor({ ...options, seed: state.seed }, context.number);
    if (kind === undefined) return { kind: 'whole', response: await perform(api, context, parts) };
    counter.faulted(context.number, context.operation ?? 'unknown', kind);
    return faultyDelivery(
      kind,
      context,
      faults[kind] === 'after' ? await perform(api, context, parts) : undefined,
    );
  };

  return async (api) => {
    const atMs = options.monotonicNow();
    const context = {
      seed: state.seed,
      number: counter.arrived(atMs),
      path: new URL(api.request.url).pathname,
      operation: api.operation?.endpoint.name,
      errors: api.operation?.errors ?? usualErrors,
    };
    const refusal = throttle(context, atMs);
    if (refusal === undefined) counter.admitted(atMs);
    const delivery: Delivery =
      refusal === undefined ? await proceed(api, context) : { kind: 'whole', response: refusal };
    counter.responded(
      context.operation ?? 'unknown',
      delivery.kind === 'whole' ? delivery.response.status : delivery.kind,
    );
    return delivery;
  };
}
