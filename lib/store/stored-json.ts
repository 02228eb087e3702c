import type * as z from 'zod/mini';
import { checkedBy, messageOf } from '../base/index.ts';
import { JsonLimitError, parseJson, refuseManyValues } from '../base/json/index.ts';
import { StoreError } from './error.ts';
import type { Store, StoredObject } from './store.ts';

/** Maximum bytes of a stored JSON object. Default of `maxBytes`. */
const MAX_STORED_BYTES = 16 * 1024 * 1024;

/** Maximum bytes of an object that lists the parts of a run or a chunk. */
export const MAX_LIST_BYTES = 128 * 1024 * 1024;

/** Maximum values in a stored JSON object: parsed, they take less than a gigabyte. */
const MAX_VALUES = 3_000_000;

/** Thrown if a stored object is missing or invalid. The message has the object's key. */
export class StoredObjectError extends Error {
  override readonly name = 'StoredObjectError';
  readonly kind: 'missing' | 'invalid';

  constructor(kind: StoredObjectError['kind'], message: string, options?: { readonly cause: unknown }) {
    super(messageOf(message), options);
    this.kind = kind;
  }
}

/**
 * Creates a handler for a promise's `catch`: it passes the fault of a missing or damaged object to `report`, returns
 * undefined, and rethrows every other error.
 */
export const unlessDamaged =
  (report: (fault: string) => void = () => undefined) =>
  (error: unknown): undefined => {
    if (!(error instanceof StoredObjectError)) throw error;
    report(error.message);
  };

type StoredJson<T> = { readonly value: T; readonly etag: string };

type Expected<T> = {
  /** The kind of object, in words: `a manifest`. */
  readonly what: string;
  readonly schema: z.ZodMiniType<T>;
  readonly maxBytes?: number | undefined;
};

/** Reads the JSON object under a key. Throws `StoredObjectError` if it is missing or invalid. */
export async function readStored<T>(
  store: Pick<Store, 'get' | 'location'>,
  key: string,
  expected: Expected<T>,
): Promise<StoredJson<T>> {
  const stored = await findStored(store, key, expected.schema, expected.maxBytes);
  if (stored === undefined) throw missingObject(store, key, expected.what);
  return stored;
}

/**
 * Reads the JSON object under a key; undefined if it is missing. Throws `StoredObjectError` if it is invalid,
 * or has more than `maxBytes`.
 */
export async function findStored<T>(
  store: Pick<Store, 'get'>,
  key: string,
  schema: z.ZodMiniType<T>,
  maxBytes = MAX_STORED_BYTES,
): Promise<StoredJson<T> | undefined> {
  const stored = await getBounded(store, key, maxBytes);
  return stored && { value: parseStored(key, stored.body, schema, maxBytes), etag: stored.etag };
}

/** Reads the object under a key; undefined if it is missing. Throws `StoredObjectError` if it is too large. */
export async function getBounded(
  store: Pick<Store, 'get'>,
  key: string,
  maxBytes: number,
): Promise<StoredObject | undefined> {
  try {
    return await store.get(key, { maxBytes });
  } catch (error) {
    if (error instanceof StoreError && error.failure.kind === 'too-large')
      throw tooLarge(key, error.failure.sizeBytes, maxBytes);
    throw error;
  }
}

/** The error for a missing object. `what`: what was expected, in words. */
export const missingObject = ({ location }: Pick<Store, 'location'>, key: string, what: string) =>
  new StoredObjectError('missing', `${key} in ${location}: expected ${what}, got nothing`);

/** Parses and validates a stored JSON object. Throws `StoredObjectError`, which never quotes the content. */
export function parseStored<T>(
  key: string,
  body: Buffer,
  schema: z.ZodMiniType<T>,
  maxBytes = MAX_STORED_BYTES,
): T {
  if (body.byteLength > maxBytes) throw tooLarge(key, body.byteLength, maxBytes);
  const parsed = checkedBy(schema, jsonOf(key, body));
  if (parsed.success) return parsed.data;
  const first = parsed.error.issues.slice(0, MAX_PLACES);
  const places = new Set(first.map(({ path }) => path.join('.') || 'the whole object'));
  throw notOurs(key, `wrong: ${[...places].join(', ')}`);
}

const MAX_PLACES = 20;

/** Prints a JSON object as bytes, indented, since people may read it. */
export const printStored = (value: unknown): Buffer =>
  Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);

/**
 * Prints a JSON object as bytes in one line, for objects in a folder with NDJSON: Spark would read several lines as
 * broken records.
 */
export const printStoredLine = (value: unknown): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

/** Prints like `printStored`, but throws `StoredObjectError` if `parseStored` would refuse the object. */
export function printBounded(key: string, value: unknown, maxBytes = MAX_STORED_BYTES): Buffer {
  const body = printStored(value);
  if (body.byteLength > maxBytes) throw tooLarge(key, body.byteLength, maxBytes);
  refuseMany(key, body);
  return body;
}

function jsonOf(key: string, body: Buffer): unknown {
  refuseMany(key, body);
  try {
    return parseJson(body.toString('utf8'));
  } catch (error) {
    if (error instanceof JsonLimitError) throw notOurs(key, error.message);
    // The cause would quote the content, which may be a text to score.
    throw notOurs(key, `${body.byteLength} bytes that are not JSON`);
  }
}

function refuseMany(key: string, body: Buffer): void {
  try {
    refuseManyValues(body, MAX_VALUES, 'a stored object');
  } catch (error) {
    throw error instanceof JsonLimitError ? notOurs(key, error.message) : error;
  }
}

const tooLarge = (key: string, got: number, maxBytes: number) =>
  new StoredObjectError('invalid', `${key}: expected at most ${maxBytes} bytes, got ${got}`);

const notOurs = (key: string, fault: string) =>
  new StoredObjectError('invalid', `${key} is not what platform-sync writes there (${fault})`);
