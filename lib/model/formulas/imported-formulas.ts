import { gunzipSync, gzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { getBounded, parseStored, type Store, StoredObjectError } from '../../store/index.ts';
import { timeName, timeOfEntry } from './formula-log.ts';

/** The text of a formula that an import had. */
export type ImportedFormula = {
  /** Of the calculation: its digits. */
  readonly id: string;
  readonly expression: string;
  /** What the calculation is called; null if the import did not say. */
  readonly name: string | null;
  /** The datasets that it is on, as the import had them. */
  readonly datasetIds: readonly string[];
  /** When the import was made, or the function that yielded it was started: ISO text. */
  readonly at: string;
};

const FOLDER = 'formulas/imported/';
const KEY = /^formulas\/imported\/(\d{8}T\d{9}Z)\.ndjson\.gz$/;

/** Maximum bytes of an import, compressed and not: some million formulas. */
const MAX_BYTES = 512 * 1024 * 1024;

const keyOf = (atMs: number) => `${FOLDER}${timeName(atMs)}.ndjson.gz`;

/** When an import was made, by its key, in epoch milliseconds; NaN for a key of another object. */
export const timeOfImport = (key: string): number => timeOfEntry({ time: KEY.exec(key)?.[1] });

/** The first line of an import. Its rows are what it had, and after them what the imports in `merged` had of others. */
const headSchema = z.object({
  version: z.literal(1),
  /** The job that yielded it; null if it came from a file. */
  job: z.nullable(z.string()),
  /** Times, as in the keys. */
  merged: z.array(z.string()),
});

/**
 * Stores what an import had, with what earlier ones had of other calculations, so that a reader needs the newest alone: of
 * two imports at once both are read. A job's is stored once, however often this is called. Returns its key.
 */
export async function storeImport(
  store: Pick<Store, 'get' | 'list' | 'put'>,
  formulas: Iterable<Omit<ImportedFormula, 'at'>>,
  { atMs, job = null, signal }: { atMs: number; job?: string | null; signal?: AbortSignal | undefined },
): Promise<string> {
  for (let at = atMs; ; at += 1) {
    const key = keyOf(at);
    const there = job === null ? undefined : await findImport(store, key);
    if (there !== undefined && there.head.job === job) return key;
    const earlier = await Array.fromAsync(store.list(FOLDER, { signal }), (each) => each.key);
    const { rows, read } = await readImports(
      store,
      earlier.filter((each) => timeOfImport(each) < at),
    );
    const own = new Date(at).toISOString();
    for (const formula of formulas) rows.set(formula.id, { ...formula, at: own });
    const head = { version: 1, job, merged: read.map((each) => timeName(timeOfImport(each))) };
    const lines = [head, ...rows.values()].map((line) => `${JSON.stringify(line)}\n`);
    const put = await store.put(key, gzipSync(lines.join('')), {
      contentType: 'application/gzip',
      condition: { ifAbsent: true },
    });
    if (put.kind === 'stored') return key;
  }
}

/** Whether the formulas that a job yielded are stored: of a job that was started at this time, in epoch milliseconds. */
export async function hasImport(
  store: Pick<Store, 'get'>,
  { atMs, job }: { readonly atMs: number; readonly job: string },
): Promise<boolean> {
  for (let at = atMs; ; at += 1) {
    const there = await findImport(store, keyOf(at));
    if (there === undefined || there.head.job === job) return there !== undefined;
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
    for (const row of found.rows()) if ((rows.get(row.id)?.at ?? '') < row.at) rows.set(row.id, row);
  }
  return { rows, read: keys.filter((key) => merged.has(key)) };
}

/** An import; undefined if there is none, or it is damaged. */
async function findImport(store: Pick<Store, 'get'>, key: string) {
  try {
    const body = (await getBounded(store, key, MAX_BYTES))?.body;
    if (body === undefined) return undefined;
    const bytes = gunzipSync(body, { maxOutputLength: MAX_BYTES });
    const end = bytes.indexOf('\n');
    const head = parseStored(key, bytes.subarray(0, end), headSchema);
    return { head, rows: () => rowsIn(bytes, end + 1) };
  } catch (error) {
    if (
      error instanceof StoredObjectError ||
      (error instanceof Error && 'code' in error && /^(?:Z_|ERR_BUFFER)/.test(String(error.code)))
    )
      return undefined;
    throw error;
  }
}

/** The rows from a place on. What was compressed with a checksum is as we wrote it. */
function* rowsIn(bytes: Buffer, start: number): Generator<ImportedFormula> {
  for (let from = start; from < bytes.length; ) {
    const end = bytes.indexOf('\n', from);
    yield JSON.parse(bytes.toString('utf8', from, end === -1 ? bytes.length : end));
    from = end === -1 ? bytes.length : end + 1;
  }
}
