import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import type { Delivery, PlainResponse } from './faults.ts';

type DeliverOptions = {
  readonly gzip: boolean;
};

/** Below this size, in characters, compression gains nothing. */
const MIN_TO_COMPRESS = 1024;

/** A reset or a cut acts on the socket; without one a reset rejects, and a cut body fails half-way, as with `fetch`. */
export async function deliver(
  delivery: Delivery,
  request: Request,
  bindings: Partial<HttpBindings> | undefined,
  options: DeliverOptions,
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
  if (plain.body.length < MIN_TO_COMPRESS) return toResponse(plain);
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

/** Tells @hono/node-server that the connection needs nothing more. */
function alreadySent(): Response {
  return new Response(null, { headers: { 'x-hono-already-sent': 'true' } });
}
