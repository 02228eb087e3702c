import { EventEmitter, once } from 'node:events';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { gatherBytes } from '../../base/index.ts';
import type { ExchangeResponse } from './exchange.ts';

export type ReadBody =
  /** The body shares its memory with nothing else, and belongs to the caller. */
  | { readonly kind: 'whole'; readonly body: Buffer<ArrayBuffer> }
  | { readonly kind: 'too-large'; readonly readBytes: number }
  | { readonly kind: 'unknown-encoding'; readonly encoding: string };

export type MakeRoom = (bytes: number) => Promise<void>;

/** The decoded body, abandoned beyond `maxBytes`. Throws what the connection, the decoder or `makeRoom` does. */
export async function readBody(
  response: ExchangeResponse,
  maxBytes: number,
  makeRoom?: MakeRoom,
): Promise<ReadBody> {
  const encoding = String(response.headers['content-encoding'] ?? 'identity');
  const decode = DECODERS.get(encoding.toLowerCase());
  if (decode === undefined) {
    response.body.destroy();
    return { kind: 'unknown-encoding', encoding };
  }
  const gathered = gatherBytes(expectedBytes(response, maxBytes));
  for await (const chunk of decode(response.body)) {
    const readBytes = gathered.sizeBytes() + chunk.byteLength;
    if (readBytes > maxBytes) {
      response.body.destroy();
      return { kind: 'too-large', readBytes };
    }
    // Nothing more is read meanwhile, so the sender waits too.
    await makeRoom?.(chunk.byteLength);
    gathered.add(chunk);
  }
  return { kind: 'whole', body: gathered.bytes() };
}

/** The size that the response declares, if it is plausible; for an encoded body, a lower bound. */
function expectedBytes({ headers }: ExchangeResponse, maxBytes: number): number | undefined {
  const declared = Number(headers['content-length']);
  return declared > 0 && declared <= maxBytes ? declared : undefined;
}

type Decode = (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** A map, since the server may send any name: an object would also have `constructor`. */
const DECODERS: ReadonlyMap<string, Decode> = new Map([
  ['identity', (body) => body],
  ['gzip', through(createGunzip)],
  ['x-gzip', through(createGunzip)],
  ['deflate', through(createInflate)],
  ['br', through(createBrotliDecompress)],
  ['zstd', through(createZstdDecompress)],
]);

function through(createDecoder: () => Transform): Decode {
  // The iteration over the decoder throws what broke either stream; the callback has nothing to add.
  return (body) => pipeline(Readable.from(body), createDecoder(), () => {});
}

/**
 * Bounds the memory of the bodies that are being received: once it is used up a body waits, and so does its sender. One
 * at a time may take more than there is, so memory holds the budget and at most one body of the largest size.
 */
export type BodyBudget = {
  readonly open: () => BodyShare;
};

export type BodyShare = {
  /** Takes so many bytes more, once there is room. Throws when the signal is aborted. */
  readonly take: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly close: () => void;
};

/** More than the pages of calculations that a scan has under way. */
const MOST_BYTES = 32 * 1024 * 1024;

/** What each body has beside the budget: most are smaller, and never wait for a large one. */
const FREE_BYTES = 1024 * 1024;

export function createBodyBudget(mostBytes = MOST_BYTES, freeBytes = FREE_BYTES): BodyBudget {
  const closed = new EventEmitter().setMaxListeners(0);
  let usedBytes = 0;
  let over: object | undefined;
  return {
    open() {
      const own = { freeBytes, bytes: 0 };
      return {
        async take(bytes, signal) {
          const counted = Math.max(0, bytes - own.freeBytes);
          own.freeBytes -= bytes - counted;
          while (counted > 0 && own !== over && usedBytes + counted > mostBytes) {
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
