import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { parseOwnJson } from '../../base/json/index.ts';
import { getBounded, parseStored, type Store } from '../../store/index.ts';
import { timeName, timeOfEntry } from './formula-log.ts';

/** The text of a formula that an import had. */
export type ImportedFormula = {
  /** The calculation's id: digits. */
  readonly id: string;
  readonly expression: string;
  /** What the calculation is called; null if the import did not say. */
  readonly name: string | null;
  /** The datasets that it is on, as the import had them. */
  readonly datasetIds: readonly string[];
  /** When the import was made, or the function that yielded it was started: ISO text. */
  readonly importedAt: string;
};

const FOLDER = 'formulas/imported/';
const KEY = /^formulas\/imported\/(\d{8}T\d{9}Z)\.ndjson\.gz$/;

/** Maximum bytes of an import, compressed and not: some million formulas. */
const MAX_BYTES = 512 * 1024 * 1024;

const keyOf = (atMs: number) => `${FOLDER}${timeName(atMs)}.ndjson.gz`;

/** When an import was made, by its key, in epoch milliseconds; NaN for a key of another object. */
export const timeOfImport = (key: string): number => timeOfEntry({ time: KEY.exec(key)?.[1] });

/** The first line of an import, whose rows are what it had, and then what the imports in `merged` (times) had of others. */
const headSchema = z.object({
  version: z.literal(1),
  job: z.nullable(z.string()),
  merged: z.array(z.string()),
});

/**
 * Stores what an import has, with what earlier ones had of other calculations, so that a reader needs the newest alone: of
 * two imports at once both are read. Returns its key; undefined, and stores nothing, if it has nothing.
 */
export async function storeImport(
  store: Pick<Store, 'get' | 'list' | 'put'>,
  read: () => Promise<readonly Omit<ImportedFormula, 'importedAt'>[]>,
  options: {
    /** Epoch milliseconds. */
    readonly atMs: number;
    /** The job that yielded it, whose formulas are stored once, however often this is called. Default: none. */
    readonly job?: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<string | undefined> {
  const { atMs, job, signal } = options;
  let own: Awaited<ReturnType<typeof read>> | undefined;
  for (let at = atMs; ; at += 1) {
    const key = keyOf(at);
    const there = await findImport(store, key);
    if (there !== undefined && there.head.job === job) return key;
    own ??= await read();
    if (own.length === 0) return undefined;
    const keys = await Array.fromAsync(store.list(FOLDER, { signal }), (each) => each.key);
    const earlier = await readImports(
      store,
      keys.filter((each) => timeOfImport(each) < at),
    );
    const importedAt = new Date(at).toISOString();
    for (const formula of own) earlier.rows.set(formula.id, { ...formula, importedAt });
    const merged = earlier.read.map((each) => timeName(timeOfImport(each)));
    const lines = [{ version: 1, importedAt, job: job ?? null, merged }, ...earlier.rows.values()];
    const body = gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const put = await store.put(key, body, {
      contentType: 'application/gzip',
      condition: { ifAbsent: true },
    });
    if (put.kind === 'stored') return key;
  }
}

/**
 * What imports say of each calculation, by its id: the newest of them. `read`: the keys of all of these that it comes from.
 * One that is damaged says nothing.
 */
export async function readImports(store: Pick<Store, 'get'>, keys: readonly string[]) {
  const rows = new Map<string, ImportedFormula>();
  const merged = new Set<string>();
  for (const key of keys.toSorted().toReversed()) {
    if (merged.has(key)) continue;
    const found = await findImport(store, key);
    if (found === undefined) continue;
    merged.add(key);
    for (const time of found.head.merged) merged.add(`${FOLDER}${time}.ndjson.gz`);
    for (const row of valuesIn<ImportedFormula>(found.bytes, found.bytes.indexOf('\n') + 1))
      if ((rows.get(row.id)?.importedAt ?? '') < row.importedAt) rows.set(row.id, row);
  }
  return { rows, read: keys.filter((key) => merged.has(key)) };
}

/** An import; undefined if there is none, or it is damaged. What was compressed with a checksum is as we wrote it. */
async function findImport(store: Pick<Store, 'get'>, key: string) {
  const body = (await getBounded(store, key, MAX_BYTES))?.body;
  try {
    const bytes = body && gunzipSync(body, { maxOutputLength: MAX_BYTES });
    return bytes && { head: parseStored(key, bytes.subarray(0, bytes.indexOf('\n')), headSchema), bytes };
  } catch {
    return undefined;
  }
}

/** The values of lines of JSON, each of which ends. `from`: the first byte of the first. */
export function* valuesIn<Value>(bytes: Buffer, from = 0): Generator<Value> {
  for (let start = from, end = bytes.indexOf('\n', start); end !== -1; end = bytes.indexOf('\n', start)) {
    yield parseOwnJson(bytes.toString('utf8', start, end)) as Value;
    start = end + 1;
  }
}
