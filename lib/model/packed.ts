import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { freeMemory } from '../base/json/index.ts';

/** The media type of a packed value. */
export const PACKED_TYPE = 'application/octet-stream';

const arrayTypes = { Uint8Array, Uint16Array, Uint32Array };

/**
 * Stands for a typed array in the JSON. `start`: its offset in bytes after the JSON; `length`: its number of elements.
 */
type ArrayReference = {
  readonly array: keyof typeof arrayTypes;
  readonly start: number;
  readonly length: number;
};

/**
 * The type of an array; a Buffer counts as a Uint8Array. Throws `TypeError` for other kinds of arrays, which could not
 * be restored.
 */
function arrayTypeOf(each: ArrayBufferView): ArrayReference['array'] {
  if (each instanceof Uint8Array) return 'Uint8Array';
  if (each instanceof Uint16Array) return 'Uint16Array';
  if (each instanceof Uint32Array) return 'Uint32Array';
  throw new TypeError(
    `expected an array of ${Object.keys(arrayTypes).join(', ')}, got ${each.constructor.name}`,
  );
}

/**
 * The size of the header in bytes. It contains the size of the rest when decompressed, and the size of the JSON in it.
 */
const HEAD_BYTES = 8;

const aligned = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/**
 * Copies an object, applying `change` to each member. Unlike a replacer of `JSON.stringify`, it does not visit the
 * elements of arrays, which would take five times as long.
 */
const eachMember = (value: unknown, change: (member: unknown) => unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member)]))
    : value;

/**
 * Packs a value: its JSON, followed by its typed arrays, compressed with a checksum. Use it only for values that can be
 * computed again if they are damaged.
 */
export function pack(value: object): Buffer {
  const arrays: { readonly bytes: Uint8Array; readonly start: number }[] = [];
  let end = 0;
  const withReferences = (each: unknown): unknown => {
    if (!ArrayBuffer.isView(each)) return eachMember(each, withReferences);
    const { buffer, byteOffset, byteLength, length } = each as Uint8Array;
    const start = end;
    arrays.push({ bytes: new Uint8Array(buffer, byteOffset, byteLength), start });
    end = aligned(start + byteLength);
    return { array: arrayTypeOf(each), start, length } satisfies ArrayReference;
  };
  const json = JSON.stringify(withReferences(value));
  const base = aligned(Buffer.byteLength(json));
  const bytes = Buffer.alloc(base + end, ' ');
  bytes.write(json);
  for (const each of arrays) bytes.set(each.bytes, base + each.start);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(bytes.length);
  head.writeUInt32LE(base, HEAD_BYTES / 2);
  const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 };
  const packed = zstdCompressSync(bytes, { params, chunkSize: bytes.length + (bytes.length >> 8) + 1_024 });
  freeMemory(bytes);
  return Buffer.concat([head, packed]);
}

/** Restores a packed value. Its typed arrays share one buffer. Undefined if the bytes are damaged. */
export function unpack<T>(body: Buffer): T | undefined {
  try {
    const sizeBytes = body.readUInt32LE(0);
    const base = body.readUInt32LE(HEAD_BYTES / 2);
    const bytes = zstdDecompressSync(body.subarray(HEAD_BYTES), {
      chunkSize: sizeBytes + 1_024,
      maxOutputLength: sizeBytes,
    });
    const restored = (each: unknown): unknown => {
      if (typeof each !== 'object' || each === null || !('array' in each)) return eachMember(each, restored);
      const { array, start, length } = each as ArrayReference;
      return new arrayTypes[array](bytes.buffer, bytes.byteOffset + base + start, length);
    };
    return restored(JSON.parse(bytes.toString('utf8', 0, base))) as T;
  } catch {
    return undefined;
  }
}
