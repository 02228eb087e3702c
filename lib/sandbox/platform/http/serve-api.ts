import { setTimeout as sleep } from 'node:timers/promises';
import { updateFormula } from '../../../platform/operations/update-formula.ts';
import type { Operation, OperationContext, RawInput } from '../operations/operation.ts';
import { createThrottle } from '../options.ts';
import {
  type Delivery,
  type ErrorContext,
  errorResponse,
  faultFor,
  faults,
  faultyDelivery,
  oddErrors,
  oddResponse,
  type PlainResponse,
  usualErrors,
} from './faults.ts';
import { readJsonBody, readQuery } from './read-request.ts';

export type ServeOptions = Backend & {
  readonly closing: AbortSignal;
};

/** Counted when it arrives, then the limiter, latency, a fault before the work, the work, a fault after it. */
export function createServe(parts: ServeOptions): (api: ApiRequest) => Promise<Delivery> {
  const { state, options, counter, closing } = parts;
  const throttle = createThrottle({ ...options, now: state.now });

  const proceed = async (api: ApiRequest, context: ErrorContext): Promise<Delivery> => {
    if (options.latencyMs > 0) await sleep(options.latencyMs, undefined, { signal: closing });
    const kind = faultFor(state.seed, options, context.number);
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
    const number = counter.arrived(atMs);
    const context = {
      seed: state.seed,
      number,
      path: new URL(api.request.url).pathname,
      operation: api.operation?.endpoint.name,
      errors: oddErrors(api.operation?.errors ?? usualErrors, { seed: state.seed, odd: options.odd, number }),
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

type ApiRequest = {
  readonly request: Request;
  readonly operation: Operation | undefined;
  readonly path: Readonly<Record<string, string>>;
};

type Backend = Omit<OperationContext, 'number'> & {
  /** It can be revoked while the server runs. */
  readonly token: () => string;
};

async function perform(api: ApiRequest, context: ErrorContext, backend: Backend): Promise<PlainResponse> {
  const { request, operation, path } = api;
  const { options } = backend;
  if (request.headers.get(options.tokenHeader) !== backend.token()) {
    return errorResponse(context, 401, 'The developer token is missing, unknown or revoked');
  }
  if (operation === undefined) return errorResponse(context, 404, 'There is no such path');
  // A platform that takes an update by PUT alone is among the odd ones.
  const refusedUpdates = options.odd > 0 ? ['POST'] : options.refusedUpdates;
  const refused: readonly string[] = operation.endpoint.name === updateFormula.name ? refusedUpdates : [];
  const methods = operation.methods.filter((method) => !refused.includes(method));
  if (!methods.includes(request.method)) {
    const response = errorResponse(context, 405, `${request.method} is not allowed here`);
    return { ...response, headers: { ...response.headers, allow: methods.join(', ') } };
  }
  const names = [operation.endpoint.name, ...Object.values(path)];
  if (names.some((name) => options.forbidden.includes(name))) {
    return errorResponse(context, 403, 'The token does not permit this');
  }
  return operate(operation, api, context, backend);
}

async function operate(
  operation: Operation,
  { request, path }: ApiRequest,
  context: ErrorContext,
  backend: Backend,
): Promise<PlainResponse> {
  const body =
    request.method === 'GET' ? undefined : await readJsonBody(request, backend.options.maxBodyBytes);
  if (body?.kind === 'wrong') return errorResponse(context, body.status, body.message);
  const types = operation.queryTypes();
  const raw: RawInput = {
    ...(Object.keys(path).length === 0 ? {} : { path }),
    ...(Object.keys(types).length === 0
      ? {}
      : { query: readQuery(new URL(request.url).searchParams, types) }),
    ...(body === undefined ? {} : { body: body.value }),
  };
  try {
    const result = await operation.respond(raw, { ...backend, number: context.number });
    if (result.kind === 'refused') return errorResponse(context, result.status, result.message);
    return oddResponse(result.body, operation.oddity(raw), {
      seed: context.seed,
      odd: backend.options.odd,
      number: context.number,
    });
  } catch (error) {
    // A bug in the sandbox itself: the message must distinguish it from an injected fault.
    return errorResponse(
      context,
      500,
      `the sandbox failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}
