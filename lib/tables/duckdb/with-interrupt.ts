import type { DuckDBConnection } from '@duckdb/node-api';

/** DuckDB ignores an interrupt that comes before it has begun, so it is repeated. */
const REPEAT_MS = 50;

/** Waits for `work`, which runs queries on `connection`; stops them when the signal is aborted, and throws its reason. */
export async function withInterrupt<T>(
  connection: DuckDBConnection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  let repeat: NodeJS.Timeout | undefined;
  const onAbort = () => {
    connection.interrupt();
    repeat = setInterval(() => connection.interrupt(), REPEAT_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const done = await work();
    // DuckDB may end an interrupted result as if it were complete.
    signal.throwIfAborted();
    return done;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    clearInterval(repeat);
  }
}
