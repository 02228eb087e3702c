import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { gatherBytes } from '../../bytes/gathered-bytes.ts';
import type { ExchangeAnswer } from './exchange.ts';

export type ReadBody =
  /** The body is alone in its memory, and the caller's. */
  | { readonly kind: 'whole'; readonly body: Buffer<ArrayBuffer> }
  | { readonly kind: 'too-large'; readonly readBytes: number }
  | { readonly kind: 'unknown-encoding'; readonly encoding: string };

/**
 * The body, decoded, read while it streams and given up as soon as it exceeds `maxBytes`. Throws what the connection
 * or the decoder throws.
 */
export async function readBody(answer: ExchangeAnswer, maxBytes: number): Promise<ReadBody> {
  const encoding = String(answer.headers['content-encoding'] ?? 'identity');
  const decode = DECODERS.get(encoding.toLowerCase());
  if (decode === undefined) {
    answer.body.destroy();
    return { kind: 'unknown-encoding', encoding };
  }
  const gathered = gatherBytes(expectedBytes(answer, maxBytes));
  for await (const chunk of decode(answer.body)) {
    const readBytes = gathered.sizeBytes() + chunk.byteLength;
    if (readBytes > maxBytes) {
      answer.body.destroy();
      return { kind: 'too-large', readBytes };
    }
    gathered.add(chunk);
  }
  return { kind: 'whole', body: gathered.bytes() };
}

/** What the answer says of its size, if that can be; of an encoded body it is the least. */
function expectedBytes({ headers }: ExchangeAnswer, maxBytes: number): number | undefined {
  const told = Number(headers['content-length']);
  return told > 0 && told <= maxBytes ? told : undefined;
}

type Decode = (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** A map, since any name may come: an object would also know `constructor`. */
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
