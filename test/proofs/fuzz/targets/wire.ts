import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { WireInput } from './response-inputs.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

const gzip = (body: Buffer): Buffer => gzipSync(body, { level: 1 });

/** How a body is encoded, and the `Content-Encoding` that the head names. */
const ENCODINGS: Readonly<
  Record<WireInput['encoding'], readonly [(body: Buffer) => Buffer, contentEncoding: string]>
> = {
  identity: [(body) => body, ''],
  gzip: [gzip, 'gzip'],
  deflate: [(body) => deflateSync(body, { level: 1 }), 'deflate'],
  br: [(body) => brotliCompressSync(body, { params: { 1: 1 } }), 'br'],
  zstd: [(body) => zstdCompressSync(body), 'zstd'],
  'gzip twice': [(body) => gzip(gzip(body)), 'gzip'],
  'gzip, not said': [gzip, ''],
};

/** The bytes of the response, with its damage applied. */
export function bytesOnWire({ status, headers, body, encoding, framing, damage }: WireInput): Buffer {
  const [encode, contentEncoding] = ENCODINGS[encoding];
  const encoded = encode(bytesOf(body));
  const lines = [
    `HTTP/1.1 ${status}`,
    ...headers,
    ...(contentEncoding === '' ? [] : [`content-encoding: ${contentEncoding}`]),
    ...(framing === 'length' ? [`content-length: ${encoded.byteLength}`] : []),
    ...(framing === 'chunked' ? ['transfer-encoding: chunked'] : []),
    ...(framing === 'close' ? ['connection: close'] : []),
  ];
  const head = bytesOf(`${lines.join('\r\n')}\r\n\r\n`);
  const response = Buffer.concat([head, framing === 'chunked' ? chunked(encoded) : encoded]);
  return damage.reduce<Buffer>((bytes, { at, bytes: put, removed }) => {
    const from = Math.min(bytes.byteLength, Math.floor(at * bytes.byteLength));
    return Buffer.concat([
      bytes.subarray(0, from),
      bytesOf(put),
      bytes.subarray(from + Math.max(0, removed)),
    ]);
  }, response);
}

/** Splits a body into chunks: first of 7 bytes, so that borders are within names and characters, then of a thousand. */
function chunked(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let from = 0; from < body.byteLength; ) {
    const size = chunks.length < 60 ? 7 : 1_000;
    const chunk = body.subarray(from, from + size);
    chunks.push(Buffer.concat([bytesOf(`${chunk.byteLength.toString(16)}\r\n`), chunk, bytesOf('\r\n')]));
    from += size;
  }
  return Buffer.concat([...chunks, bytesOf('0\r\n\r\n')]);
}
