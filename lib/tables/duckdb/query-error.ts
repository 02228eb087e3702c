/** Why a query has no result. */
type QueryFailure =
  /** The SQL is wrong, or does not fit the values that it reads; the message shows the place in it. */
  | { readonly kind: 'sql' }
  | { readonly kind: 'too-long'; readonly seconds: number }
  | { readonly kind: 'too-large' }
  /** DuckDB failed: what it reads is damaged, or the disk is full. */
  | { readonly kind: 'other' };

/** The one error of a query. An abort is thrown as the signal's own reason instead. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  readonly failure: QueryFailure;

  constructor(message: string, failure: QueryFailure, options?: { readonly cause: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** Faults of DuckDB that are not the SQL's. */
const OTHERS =
  /^(?:IO|INTERNAL|Internal|Fatal|FATAL|Connection|Serialization|Corrupt\w*|Dependency|Invalid Configuration) Error/;
/** What it says of Parquet whose pages or footer are damaged. */
const DAMAGED = /TProtocol|thrift|zstd|magic bytes/i;
const REMEDY =
  '\nParquet in the store is damaged: what is deleted in its folder parquet/ or model/ is made again.';
const TOO_LARGE = /^Out of Memory Error|max_temp_directory_size/;

/** The error for what DuckDB throws. `linesBefore`: lines of ours in front of the query, which its message counts too. */
export function queryErrorOf(cause: unknown, linesBefore = 0): QueryError {
  const message = (cause instanceof Error ? cause.message : String(cause))
    .replace(/^Failed to extract statements: /, '')
    .replaceAll(/^LINE (\d+):/gm, (_, line: string) => `LINE ${Math.max(1, Number(line) - linesBefore)}:`);
  if (TOO_LARGE.test(message)) return new QueryError(message, { kind: 'too-large' }, { cause });
  if (DAMAGED.test(message)) return new QueryError(`${message}${REMEDY}`, { kind: 'other' }, { cause });
  return new QueryError(message, { kind: OTHERS.test(message) ? 'other' : 'sql' }, { cause });
}
