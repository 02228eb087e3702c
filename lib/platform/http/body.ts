import { isUtf8 } from 'node:buffer';
import { EventEmitter, once } from 'node:events';
import { pipeline, Readable, type Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { gatherBytes } from '../../base/json/index.ts';
import type { ExchangeResponse } from './exchange.ts';

/* Receives the bytes of a response within a budget of memory, decompresses them, and converts them to UTF-8. */

/** Converts a body to UTF-8 if its byte order mark or its content type shows that it has another encoding. */
export function inUtf8(body: Buffer<ArrayBuffer>, contentType: string): Buffer<ArrayBuffer> {
  const marked =
    body[0] === 0xff && body[1] === 0xfe
      ? 'utf-16le'
      : body[0] === 0xfe && body[1] === 0xff
        ? 'utf-16be'
        : undefined;
  const named = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1];
  if (
    marked === undefined &&
    (named === undefined || (isUtf8(body) && !/^(utf-?16|ucs-?2|utf-?32)/i.test(named)))
  )
    return body;
  try {
    return Buffer.from(new TextDecoder(marked ?? named).decode(body));
  } catch {
    // The name of the encoding is unknown, so the bytes are taken for UTF-8.
    return body;
  }
}

/**
 * Reads and decodes a body; gives up beyond `maxBytes`. Throws errors of the connection, the decoder and `makeRoom`.
 */
export async function readBody(
  response: ExchangeResponse,
  maxBytes: number,
  makeRoom?: (bytes: number) => Promise<void>,
): Promise<
  /** The body shares its memory with no other buffer, so the caller may change or free it. */
  | { readonly kind: 'whole'; readonly body: Buffer<ArrayBuffer> }
  | { readonly kind: 'too-large'; readonly readBytes: number }
> {
  const gathered = gatherBytes(expectedBytes(response, maxBytes));
  for await (const chunk of decoded(response)) {
    const readBytes = gathered.sizeBytes() + chunk.byteLength;
    if (readBytes > maxBytes) {
      response.body.destroy();
      return { kind: 'too-large', readBytes };
    }
    // Nothing is read during this wait, so the sender has to wait too.
    await makeRoom?.(chunk.byteLength);
    gathered.add(chunk);
  }
  return { kind: 'whole', body: gathered.bytes() };
}

/** The size in bytes that the response declares, if it is plausible. An encoded body is larger once it is decoded. */
function expectedBytes({ headers }: ExchangeResponse, maxBytes: number): number | undefined {
  const declared = Number(headers['content-length']);
  return declared > 0 && declared <= maxBytes ? declared : undefined;
}

type Body = AsyncIterable<Uint8Array>;
type Decode = (body: Body) => Body;

/** Maximum encodings of a response, one within another: more than any real response has. */
const MAX_ENCODINGS = 4;

/** The names of a response's encodings, in the order in which they were applied. */
const encodingsOf = ({ headers }: ExchangeResponse): readonly string[] =>
  String(headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase());

/** Words for the unknown encodings of a response; '' if all are known. */
export function unknownEncoding(response: ExchangeResponse): string {
  const unknown = encodingsOf(response).filter(
    (name) => name !== '' && name !== 'identity' && !DECODERS.has(name),
  );
  return unknown.length === 0 ? '' : `content encoded as ${unknown.join(', ')}`;
}

/**
 * The decoded body. Proxies may decode a body and keep the header, or remove the header of an encoded body. So if the
 * bytes show their encoding, they decide, and an unknown name in the header is ignored.
 */
function decoded(response: ExchangeResponse): Body {
  const names = encodingsOf(response).slice(-MAX_ENCODINGS).reverse();
  const body = names.reduce((from: Body, name) => DECODERS.get(name)?.(from) ?? from, response.body);
  return decodeIf(isGzip, createGunzip)(body);
}

type IsIt = (first: number, second: number) => boolean;
const isGzip: IsIt = (first, second) => first === 0x1f && second === 0x8b;
const isZstd: IsIt = (first, second) => first === 0x28 && second === 0xb5;
/** Whether a body begins with the header of zlib (RFC 1950), which some servers omit. */
const isZlib: IsIt = (first, second) => (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
/** Whether a body begins like JSON or a page, and so not like deflated bytes. */
const isText: IsIt = (first) => first <= 0x20 || [0x22, 0x3c, 0x5b, 0x7b, 0xef].includes(first);

/** The decoders by the name of the encoding. A map, since an object would also have the name `constructor`. */
const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['gzip', decodeIf(isGzip, createGunzip)],
  ['x-gzip', decodeIf(isGzip, createGunzip)],
  ['deflate', decodeIf(isZlib, createInflate, decodeIf(isText, undefined, through(createInflateRaw)))],
  ['br', through(createBrotliDecompress)],
  ['zstd', decodeIf(isZstd, createZstdDecompress)],
]);

/**
 * Decodes a body if `isIt` is true for its first two bytes. Otherwise `otherwise` decodes it, or it stays
 * unchanged.
 */
function decodeIf(isIt: IsIt, createDecoder: (() => Transform) | undefined, otherwise?: Decode): Decode {
  return async function* (body) {
    const chunks = body[Symbol.asyncIterator]();
    let first: Uint8Array = Buffer.alloc(0);
    let isDone = false;
    while (first.byteLength < 2 && !isDone) {
      const next = await chunks.next();
      isDone = next.done === true;
      if (!isDone) first = first.byteLength === 0 ? next.value : Buffer.concat([first, next.value]);
    }
    const rest = joined(first, chunks);
    if (first.byteLength === 0) return;
    if (!isIt(first[0] ?? 0, first[1] ?? 0)) yield* otherwise?.(rest) ?? rest;
    else yield* createDecoder === undefined ? rest : through(createDecoder)(rest);
  };
}

async function* joined(first: Uint8Array, rest: AsyncIterator<Uint8Array>): Body {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function through(createDecoder: () => Transform): Decode {
  // If either stream fails, iterating over the decoder throws; the callback has nothing to add.
  return (body) => pipeline(Readable.from(body), createDecoder(), () => {});
}

/** The default budget in bytes: more than the pages of calculations that a scan has in flight. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Bytes of each body that do not count. Most bodies are smaller, so they never wait for a large one. */
const FREE_BYTES = 1024 * 1024;

/**
 * Creates a budget that limits the memory of bodies that are being received. When it is used up, other bodies wait, and
 * so do their senders. One body at a time may exceed the budget, so the memory in use is at most the budget and one
 * body of the maximum size. The first `freeBytes` of each body do not count.
 */
export function createBodyBudget(maxBytes = MAX_BYTES, freeBytes = FREE_BYTES) {
  const closed = new EventEmitter().setMaxListeners(0);
  let usedBytes = 0;
  let over: object | undefined;
  return {
    /** Opens the account of one body. */
    open() {
      const own = { freeBytes, bytes: 0 };
      return {
        /** Waits until the budget has room for more bytes, and takes them. Throws when the signal is aborted. */
        async take(bytes: number, signal: AbortSignal) {
          const counted = Math.max(0, bytes - own.freeBytes);
          own.freeBytes -= bytes - counted;
          while (counted > 0 && own !== over && usedBytes + counted > maxBytes) {
            if (over === undefined) over = own;
            else await once(closed, 'body', { signal });
          }
          usedBytes += counted;
          own.bytes += counted;
        },
        close() {
          usedBytes -= own.bytes;
          own.bytes = 0;
          if (over === own) over = undefined;
          closed.emit('body');
        },
      };
    },
  };
}
