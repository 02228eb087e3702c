import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { parseOwnJson } from '../../base/json/index.ts';
import { getBounded, parseStored, type Store } from '../../store/index.ts';
import { timeName, timeOfEntry } from './formula-log.ts';

/** The formula of a calculation, as a user imported it. */
export type ImportedFormula = {
  /** The calculation's id: digits. */
  readonly id: string;
  readonly expression: string;
  /** The calculation's name; null if the import did not have it. */
  readonly name: string | null;
  /** The calculation's datasets, as imported. */
  readonly datasetIds: readonly string[];
  /** When it was imported, or when the function that returned it was started, ISO 8601. */
  readonly importedAt: string;
};

const FOLDER = 'formulas/imported/';
const KEY = /^formulas\/imported\/(\d{8}T\d{9}Z)\.ndjson\.gz$/;

/** Maximum bytes of an import, compressed and also decompressed: enough for a few million formulas. */
const MAX_BYTES = 512 * 1024 * 1024;

const keyOf = (atMs: number) => `${FOLDER}${timeName(atMs)}.ndjson.gz`;

/** When an import was made, in epoch milliseconds, from its key; NaN for a key that is not an import's. */
export const timeOfImport = (key: string): number => timeOfEntry({ time: KEY.exec(key)?.[1] });

/**
 * Schema of the first line of an import. The other lines are the import's own rows, and rows of other calculations,
 * copied from earlier imports. `merged`: the times of these imports; `job`: the job that returned the formulas, or
 * null.
 */
const headSchema = z.object({
  version: z.literal(1),
  job: z.nullable(z.string()),
  merged: z.array(z.string()),
});

/**
 * Stores an import together with the rows that earlier imports have for other calculations, so that a reader needs only
 * the newest import. If two imports were simultaneous, readers read both. Returns the key; if there are no rows, stores
 * nothing and returns undefined.
 */
export async function storeImport(
  store: Pick<Store, 'get' | 'list' | 'put'>,
  read: () => Promise<readonly Omit<ImportedFormula, 'importedAt'>[]>,
  options: {
    /** When the import was made, in epoch milliseconds. */
    readonly atMs: number;
    /**
     * The job that returned the formulas. They are stored only once for each job, even if this is called again.
     * Default: no job.
     */
    readonly job?: string;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<string | undefined> {
  const { atMs, job, signal } = options;
  let imported: Awaited<ReturnType<typeof read>> | undefined;
  for (let at = atMs; ; at += 1) {
    const key = keyOf(at);
    const existing = await findImport(store, key);
    if (existing !== undefined && existing.head.job === job) return key;
    imported ??= await read();
    if (imported.length === 0) return undefined;
    const keys = await Array.fromAsync(store.list(FOLDER, { signal }), (each) => each.key);
    const earlier = await readImports(
      store,
      keys.filter((each) => timeOfImport(each) < at),
    );
    const importedAt = new Date(at).toISOString();
    for (const formula of imported) earlier.rows.set(formula.id, { ...formula, importedAt });
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
 * The newest imported formula of each calculation, by the calculation's id (`rows`). `read`: the keys of all imports
 * whose rows are included. A damaged import is ignored.
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

/** Reads an import; undefined if it is missing or damaged, which the checksum of its compression shows. */
async function findImport(store: Pick<Store, 'get'>, key: string) {
  const body = (await getBounded(store, key, MAX_BYTES))?.body;
  try {
    const bytes = body && gunzipSync(body, { maxOutputLength: MAX_BYTES });
    return bytes && { head: parseStored(key, bytes.subarray(0, bytes.indexOf('\n')), headSchema), bytes };
  } catch {
    return undefined;
  }
}

/** Parses JSON lines; each must end in a line feed. `from`: where the first line begins. */
export function* valuesIn<Value>(bytes: Buffer, from = 0): Generator<Value> {
  for (let start = from, end = bytes.indexOf('\n', start); end !== -1; end = bytes.indexOf('\n', start)) {
    yield parseOwnJson(bytes.toString('utf8', start, end)) as Value;
    start = end + 1;
  }
}
