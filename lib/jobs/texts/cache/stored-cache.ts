import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { parseOwnJson } from '../../../json/json.ts';
import type { Store } from '../../../store/store.ts';
import { getBounded, StoredObjectError } from '../../../store/stored-json.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import type { Row, RowKey, Table } from '../../../table/table.ts';
import { CACHE_FOLDER_NAME, SCORES_FOLDER } from '../batch/batch.ts';

/**
 * A table for one process whose final rows outlive it: results of texts, chunks that have ended, headers. They are
 * stored in segments: objects that are added and never changed. Only forgetting removes rows from a segment, by writing
 * the remaining rows to a new one. Two processes may add segments at the same time; neither sees the other's rows until
 * it restarts.
 */
export type StoredCache = {
  readonly table: Table;
  /** Makes durable what is not yet: the latest results and deletions of rows. Ends of chunks are durable at once. */
  flush(): Promise<void>;
};

/** Where the segments are. Ends in a slash. */
export const SEGMENTS_FOLDER = `${SCORES_FOLDER}${CACHE_FOLDER_NAME}/`;
/** States of texts; rows of chunks and headers are stored at once. */
const OF_TEXTS: readonly unknown[] = ['SCORED', 'FREE'];
/** Results that wait for their segment: the most that a crash can lose. */
const MOST_WAITING = 50;
const READ_AT_ONCE = 16;
/** Rows have at most 400 KB, and few wait for their segment. */
const MOST_UNPACKED_BYTES = 64 * 1024 * 1024;

/** Reads all segments of the store into memory. Throws `StoredObjectError` for an invalid segment. */
export async function openStoredCache(store: Store): Promise<StoredCache> {
  const memory = createMemoryTable();
  const segments = await loadSegments(store, memory);
  const waiting = new Map<string, StoredLine>();
  const erased = new Set<string>();
  const save = async () => {
    const added = [...waiting.values()];
    const removed = new Set(erased);
    await segments.erase(removed);
    if (added.length > 0) await segments.add(added);
    // Rows that were added meanwhile wait for the next save.
    for (const line of added) if (waiting.get(nameOf(line)) === line) waiting.delete(nameOf(line));
    for (const name of removed) erased.delete(name);
  };
  let saving = Promise.resolve();
  const flush = () => {
    saving = saving.catch(() => undefined).then(save);
    return saving;
  };
  const table: Table = {
    ...memory,
    async put(key, row, options) {
      const result = await memory.put(key, row, options);
      if (result.kind === 'other' || !isFinal(row)) return result;
      waiting.set(nameOf(key), { ...key, row });
      if (waiting.size >= MOST_WAITING || !OF_TEXTS.includes(row['state'])) await flush();
      return result;
    },
    async delete(key, expected) {
      const result = await memory.delete(key, expected);
      if (result.kind === 'stored') {
        waiting.delete(nameOf(key));
        erased.add(nameOf(key));
      }
      return result;
    },
  };
  return { table, flush };
}

/**
 * Rows that outlive the process: an open chunk, a claim or a send means nothing once it has ended. A free text has one
 * only for the calls that nobody has counted yet.
 */
const isFinal = ({ state }: Row) =>
  state === undefined || state === 'SCORED' || state === 'FREE' || state === 'ended';

const lineSchema = z.object({
  partition: z.string(),
  sort: z.string(),
  row: z.custom<Row>((value) => typeof value === 'object' && value !== null),
});
type StoredLine = z.infer<typeof lineSchema>;

const nameOf = ({ partition, sort }: RowKey) => JSON.stringify([partition, sort]);

async function loadSegments(store: Store, memory: Table) {
  const keys: string[] = [];
  for await (const { key } of store.list(SEGMENTS_FOLDER)) keys.push(key);
  /** The segments that hold each row; the latest one has its latest state. */
  const holders = new Map<string, string[]>();
  let next = 0;
  const hold = (key: string, lines: readonly StoredLine[]) => {
    for (const line of lines) holders.set(nameOf(line), [...(holders.get(nameOf(line)) ?? []), key]);
    next = Math.max(next, numberOf(key) + 1);
  };
  const write = async (number: number, lines: readonly StoredLine[]) => {
    const body = gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const key = `${SEGMENTS_FOLDER}segment-${String(number).padStart(7, '0')}-${sha12(body)}.ndjson.gz`;
    await store.put(key, body);
    hold(key, lines);
  };
  for (let at = 0; at < keys.length; at += READ_AT_ONCE) {
    const group = keys.slice(at, at + READ_AT_ONCE);
    const read = await Promise.all(group.map((key) => readSegment(store, key)));
    for (const [index, lines] of read.entries()) {
      const key = group[index] ?? '';
      hold(key, lines);
      for (const [line, { row, ...name }] of lines.entries()) {
        const expected = (await memory.get(name))?.token ?? null;
        await memory.put(name, row, { expected, token: `${key}:${line}` });
      }
    }
  }
  return {
    add: (lines: readonly StoredLine[]) => write(next, lines),
    /** Removes rows from the segments that hold them. */
    async erase(names: ReadonlySet<string>): Promise<void> {
      for (const key of new Set([...names].flatMap((name) => holders.get(name) ?? []))) {
        const rest = (await readSegment(store, key)).filter((line) => !names.has(nameOf(line)));
        if (rest.length > 0) await write(numberOf(key), rest);
        await store.delete(key);
        for (const line of rest)
          holders.set(
            nameOf(line),
            (holders.get(nameOf(line)) ?? []).filter((other) => other !== key),
          );
      }
      for (const name of names) holders.delete(name);
    },
  };
}

async function readSegment(store: Store, key: string): Promise<readonly StoredLine[]> {
  const stored = await getBounded(store, key, MOST_UNPACKED_BYTES);
  if (stored === undefined) return [];
  try {
    const texts = gunzipSync(stored.body, { maxOutputLength: MOST_UNPACKED_BYTES })
      .toString('utf8')
      .split('\n');
    return texts.filter((text) => text !== '').map((text) => lineSchema.parse(parseOwnJson(text)));
  } catch {
    // The cause would quote the content.
    throw new StoredObjectError(
      'invalid',
      `${key} in ${store.location} is not what platform-sync writes there`,
    );
  }
}

const numberOf = (key: string) => Number(/segment-(\d+)-/.exec(key)?.[1] ?? 0);

const sha12 = (body: Buffer) => createHash('sha256').update(body).digest('hex').slice(0, 12);
