import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { parseJson } from '../../../base/json/index.ts';
import { updateFormula } from '../../../platform/operations/index.ts';
import type { Operation, OperationContext, RawInput } from '../operations/operation.ts';
import { createThrottle } from '../options.ts';
import {
  type Delivery,
  type ErrorContext,
  errorResponse,
  faults,
  faultyDelivery,
  kindFor,
  oddErrors,
  oddResponse,
  type PlainResponse,
  usualErrors,
} from './faults.ts';

/**
 * Creates the function that serves requests. Its steps are: count the request, apply the limiter, wait for the latency,
 * perform the operation. A fault happens before or after the last step.
 */
export function createServe(
  parts: Backend & {
    readonly closing: AbortSignal;
  },
): (api: ApiRequest) => Promise<Delivery> {
  const { state, options, counter, closing } = parts;
  const throttle = createThrottle({ ...options, now: state.now });

  const proceed = async (api: ApiRequest, context: ErrorContext): Promise<Delivery> => {
    if (options.latencyMs > 0) await sleep(options.latencyMs, undefined, { signal: closing });
    const { faults: share, faultKinds: kinds, plannedFaults: planned } = options;
    const kind = kindFor('fault', context, { share, kinds, planned });
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
  /** Returns the token that is valid now: it can be replaced while the server runs. */
  readonly token: () => string;
};

/** Checks the token, path, method and permission, and performs the operation. */
async function perform(api: ApiRequest, context: ErrorContext, backend: Backend): Promise<PlainResponse> {
  const { request, operation, path } = api;
  const { options } = backend;
  if (request.headers.get(options.tokenHeader) !== backend.token()) {
    return errorResponse(context, 401, 'The developer token is missing, unknown or revoked');
  }
  if (operation === undefined) return errorResponse(context, 404, 'There is no such path');
  // With `odd`, only PUT updates a formula.
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

/** Minimum length of a body that is compressed, in characters or bytes: compressing a shorter one gains nothing. */
const MIN_COMPRESSED_LENGTH = 1024;

/**
 * Sends a response. A reset or a cut acts on the socket in `bindings`. Without a socket, a reset rejects the promise,
 * and a cut body fails half-way, as it does for a client of `fetch`.
 */
export async function deliver(
  delivery: Delivery,
  request: Request,
  bindings: Partial<HttpBindings> | undefined,
  options: {
    readonly gzip: boolean;
  },
): Promise<Response> {
  switch (delivery.kind) {
    case 'whole':
      return options.gzip && acceptsGzip(request)
        ? compressed(delivery.response)
        : toResponse(delivery.response);
    case 'reset':
      if (bindings?.incoming === undefined) throw new TypeError('the sandbox reset the connection');
      bindings.incoming.socket.resetAndDestroy();
      return alreadySent();
    case 'cut':
      return cut(delivery.response, bindings);
    default:
      return delivery satisfies never;
  }
}

function toResponse({ status, headers, body }: PlainResponse): Response {
  return new Response(status === 204 ? null : body, { status, headers });
}

async function compressed(plain: PlainResponse): Promise<Response> {
  if (plain.body.length < MIN_COMPRESSED_LENGTH) return toResponse(plain);
  const body = await promisify(gzip)(plain.body, { level: 1 });
  return new Response(new Uint8Array(body), {
    status: plain.status,
    headers: { ...plain.headers, 'content-encoding': 'gzip', vary: 'accept-encoding' },
  });
}

function acceptsGzip(request: Request): boolean {
  return /\bgzip\b/i.test(request.headers.get('accept-encoding') ?? '');
}

function cut(
  { status, headers, body }: PlainResponse,
  bindings: Partial<HttpBindings> | undefined,
): Response {
  const bytes = Buffer.from(body);
  const half = bytes.subarray(0, Math.ceil(bytes.byteLength / 2));
  const outgoing = bindings?.outgoing;
  if (outgoing === undefined) return new Response(failingBody(half), { status, headers });
  outgoing.writeHead(status, { ...headers, 'content-length': bytes.byteLength });
  outgoing.write(half, () => outgoing.destroy());
  return alreadySent();
}

function failingBody(half: Uint8Array): ReadableStream<Uint8Array> {
  const chunks = [half];
  return new ReadableStream({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.error(new TypeError('the sandbox cut the body'));
      else controller.enqueue(chunk);
    },
  });
}

/** The response after which @hono/node-server writes nothing more to the connection: it is finished. */
function alreadySent(): Response {
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
}

type WrongRequest = { readonly kind: 'wrong'; readonly status: 400 | 413; readonly message: string };

async function readJsonBody(
  request: Request,
  maxBytes: number,
): Promise<{ readonly kind: 'body'; readonly value: unknown } | WrongRequest> {
  const tooLarge: WrongRequest = {
    kind: 'wrong',
    status: 413,
    message: `the body is larger than ${maxBytes} bytes`,
  };
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return tooLarge;
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) return tooLarge;
    chunks.push(chunk);
  }
  try {
    return { kind: 'body', value: parseJson(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { kind: 'wrong', status: 400, message: 'the body is not JSON' };
  }
}

/** The query parameters, with the types that the operation declares; unknown parameters are left out. */
function readQuery(
  search: URLSearchParams,
  types: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(types)) {
    const text = search.get(name);
    if (text !== null) query[name] = typedValue(text, type);
  }
  return query;
}

function typedValue(text: string, type: string): unknown {
  if (type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return (type === 'number' || type === 'integer') && /^-?\d+$/.test(text) ? Number(text) : text;
}
