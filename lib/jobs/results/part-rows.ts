import { hash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { type Store, StoredObjectError } from '../../store/index.ts';

/** Maximum bytes of a part after decompression; it has at most a hundred rows. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/**
 * The rows of a part of scores, a line of JSON each; undefined if the part no longer exists. Throws errors of
 * `rowsOfPart`.
 */
export async function findRows(
  store: Pick<Store, 'get'>,
  key: string,
  signal?: AbortSignal,
): Promise<readonly Buffer[] | undefined> {
  const stored = await store.get(key, signal === undefined ? {} : { signal });
  return stored && rowsOfPart(key, stored.body);
}

/**
 * The rows in the bytes of a part. Throws `StoredObjectError` if the hash in its key is another one, or the
 * bytes are not a part.
 */
export function rowsOfPart(key: string, body: Buffer): readonly Buffer[] {
  const [, named] = /-([0-9a-f]{12})\.ndjson\.gz$/.exec(key) ?? [];
  if (named !== undefined && !hash('sha256', body).startsWith(named))
    throw new StoredObjectError('invalid', `${key}: expected the sha256 in its name, got another`);
  return linesIn(unpacked(key, body));
}

function unpacked(key: string, body: Buffer): Buffer {
  try {
    return gunzipSync(body, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch {
    throw notRows(key, body);
  }
}

/** The error for a part that contains something else. It has no cause, which could quote the content. */
export const notRows = (key: string, body: Buffer) =>
  new StoredObjectError(
    'invalid',
    `${key} is not what platform-sync writes there (${body.byteLength} bytes that are not rows)`,
  );

function linesIn(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.byteLength; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.byteLength : feed;
    if (end > start) lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

const LINE_FEED = 0x0a;
