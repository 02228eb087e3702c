import type * as z from 'zod/mini';
import { parseJson } from '../json/json.ts';
import type { Store } from './store.ts';

/** An object in the store is missing, or not what it should be; the message names the object. */
export class StoredObjectError extends Error {
  override readonly name = 'StoredObjectError';
  readonly kind: 'missing' | 'invalid';

  constructor(kind: StoredObjectError['kind'], message: string, options?: { readonly cause: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** The value of a stored JSON object, and the object's etag. */
export type StoredJson<T> = { readonly value: T; readonly etag: string };

/** What is expected under a key. */
export type Expected<T> = {
  /** In words: `a manifest`. */
  readonly what: string;
  readonly schema: z.ZodMiniType<T>;
};

/** The JSON object under a key. Throws `StoredObjectError` if there is none, or if it is something else. */
export async function readStored<T>(
  store: Pick<Store, 'get' | 'location'>,
  key: string,
  expected: Expected<T>,
): Promise<StoredJson<T>> {
  const stored = await findStored(store, key, expected.schema);
  if (stored === undefined) throw missingObject(store, key, expected.what);
  return stored;
}

/** The JSON object under a key; undefined if there is none. Throws `StoredObjectError` if it is something else. */
export async function findStored<T>(
  store: Pick<Store, 'get'>,
  key: string,
  schema: z.ZodMiniType<T>,
): Promise<StoredJson<T> | undefined> {
  const stored = await store.get(key);
  return stored && { value: parseStored(key, stored.body, schema), etag: stored.etag };
}

/** The error for an object that is not there; `what` was expected, in words. */
export const missingObject = ({ location }: Pick<Store, 'location'>, key: string, what: string) =>
  new StoredObjectError('missing', `${key} in ${location}: expected ${what}, got nothing`);

/** Parses and validates a stored JSON object. Throws `StoredObjectError`, which never quotes the content. */
export function parseStored<T>(key: string, body: Buffer, schema: z.ZodMiniType<T>): T {
  const parsed = schema.safeParse(jsonOf(key, body));
  if (parsed.success) return parsed.data;
  const places = new Set(parsed.error.issues.map(({ path }) => path.join('.') || 'the whole object'));
  throw notOurs(key, `wrong: ${[...places].join(', ')}`);
}

/** The bytes of a JSON object, indented since people read it too. */
export const printStored = (value: unknown): Buffer =>
  Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);

function jsonOf(key: string, body: Buffer): unknown {
  try {
    return parseJson(body.toString('utf8'));
  } catch {
    // The cause would quote the content, which may be a text to score.
    throw notOurs(key, `${body.byteLength} bytes that are not JSON`);
  }
}

const notOurs = (key: string, fault: string) =>
  new StoredObjectError('invalid', `${key} is not what platform-sync writes there (${fault})`);
