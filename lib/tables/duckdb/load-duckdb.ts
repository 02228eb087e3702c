import { loadPeer } from '../../base/index.ts';

/** DuckDB's module, as it is loaded. */
export type DuckDb = typeof import('@duckdb/node-api');

/** Loads DuckDB: 70 MB that only SQL needs. Throws `PeerMissingError`. */
export const loadDuckDb = (load: () => Promise<DuckDb> = () => import('@duckdb/node-api')): Promise<DuckDb> =>
  loadPeer('@duckdb/node-api', load);
