/** DuckDB's module, as it is loaded. */
export type DuckDb = typeof import('@duckdb/node-api');

/** DuckDB cannot be loaded: it is not installed, or not for this machine. The message says how to get it. */
export class DuckDbMissingError extends Error {
  override readonly name = 'DuckDbMissingError';
}

/** The version that is tested, which `package.json` names too. */
export const DUCKDB_VERSION = '1.5.5-r.5';

/**
 * Loads DuckDB, an optional peer of the package: 70 MB that only SQL needs. Throws `DuckDbMissingError` if it cannot be
 * loaded.
 */
export async function loadDuckDb(
  load: () => Promise<DuckDb> = () => import('@duckdb/node-api'),
): Promise<DuckDb> {
  try {
    return await load();
  } catch (cause) {
    const [first = ''] = cause instanceof Error ? cause.message.split('\n') : [String(cause)];
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const fault = isAbsent ? 'DuckDB is not installed' : `DuckDB cannot be loaded (${first})`;
    throw new DuckDbMissingError(`${fault}: npm install @duckdb/node-api@${DUCKDB_VERSION}`, { cause });
  }
}
