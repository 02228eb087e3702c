import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

/** One response as it goes over the wire. Bytes are texts with one character a byte. */
export type Wire = {
  readonly status: string;
  /** Whole lines, without their line ends. */
  readonly headers: readonly string[];
  /** The body before it is encoded. */
  readonly body: string;
  readonly encoding: 'identity' | 'gzip' | 'deflate' | 'br' | 'zstd' | 'gzip twice' | 'gzip, not said';
  readonly framing: 'length' | 'chunked' | 'close';
  /** Put over the finished bytes at a place, from 0 to 1: a damage. Empty: none. */
  readonly damage: readonly { readonly at: number; readonly bytes: string; readonly removed: number }[];
};

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

const ENCODERS: Readonly<Record<Wire['encoding'], (body: Buffer) => Buffer>> = {
  identity: (body) => body,
  gzip: (body) => gzipSync(body, { level: 1 }),
  deflate: (body) => deflateSync(body, { level: 1 }),
  br: (body) => brotliCompressSync(body, { params: { 1: 1 } }),
  zstd: (body) => zstdCompressSync(body),
  'gzip twice': (body) => gzipSync(gzipSync(body, { level: 1 }), { level: 1 }),
  'gzip, not said': (body) => gzipSync(body, { level: 1 }),
};

const SAID: Readonly<Record<Wire['encoding'], string>> = {
  identity: '',
  gzip: 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
  'gzip twice': 'gzip',
  'gzip, not said': '',
};

/** The bytes of the response, damaged if the wire says so. */
export function bytesOnWire({ status, headers, body, encoding, framing, damage }: Wire): Buffer {
  const encoded = ENCODERS[encoding](bytesOf(body));
  const lines = [
    `HTTP/1.1 ${status}`,
    ...headers,
    ...(SAID[encoding] === '' ? [] : [`content-encoding: ${SAID[encoding]}`]),
    ...(framing === 'length' ? [`content-length: ${encoded.byteLength}`] : []),
    ...(framing === 'chunked' ? ['transfer-encoding: chunked'] : []),
    ...(framing === 'close' ? ['connection: close'] : []),
  ];
  const head = bytesOf(`${lines.join('\r\n')}\r\n\r\n`);
  const whole = Buffer.concat([head, framing === 'chunked' ? chunked(encoded) : encoded]);
  return damage.reduce<Buffer>((bytes, { at, bytes: put, removed }) => {
    const from = Math.min(bytes.byteLength, Math.floor(at * bytes.byteLength));
    return Buffer.concat([
      bytes.subarray(0, from),
      bytesOf(put),
      bytes.subarray(from + Math.max(0, removed)),
    ]);
  }, whole);
}

/** In chunks of 7 bytes at first, so that borders are within names and characters, and then of a thousand. */
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
