import { ServiceError } from '../base/aws/index.ts';
import { firstLine, messageOf } from '../base/index.ts';

/** Everything that can go wrong with a table, as data. `code`: the error code of the service or of SQLite. */
export type TableFailure =
  /** The table does not exist, has the wrong key schema, or belongs to another store. */
  | { readonly kind: 'bad-table'; readonly table: string; readonly expected: string; readonly got: string }
  | { readonly kind: 'bad-key'; readonly expected: string; readonly got: string }
  | { readonly kind: 'bad-row'; readonly expected: string; readonly got: string }
  /** The SDK has no region or no credentials; `expected`: the settings in words. Nothing was sent. */
  | { readonly kind: 'unconfigured'; readonly code: string; readonly expected: string }
  /** `file`: the SQLite file that this process may not write. */
  | { readonly kind: 'denied'; readonly code: string; readonly file?: string }
  /** For a SQLite file: its file system is read-only, full, or has no free inodes. Nothing was stored. */
  | { readonly kind: 'full' | 'read-only'; readonly code: string }
  /** Requests exceed the table's capacity, or the service failed. A write may have been stored anyway. */
  | { readonly kind: 'busy'; readonly code: string }
  /** There was no response, or an incomplete one. A write may have been stored anyway. */
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'other'; readonly code: string };

/** The error of `lib/table`. Its message says what was tried, on what, and what came back. */
export class TableError extends ServiceError {
  override readonly name = 'TableError';
  readonly resource = 'table';
  readonly failure: TableFailure;

  /** `tried`: what was tried, and on which row: `put job#a - in table jobs`. */
  constructor(tried: string, failure: TableFailure, options?: { readonly cause: unknown }) {
    const cause = options?.cause instanceof Error ? ` (${firstLine(options.cause.message)})` : '';
    super(messageOf(`${tried}: ${describe(failure)}${cause}`), options);
    this.failure = failure;
  }
}

function describe(failure: TableFailure): string {
  switch (failure.kind) {
    case 'bad-table':
      return failure.got === 'none'
        ? `there is no table ${failure.table}: docs/restore.md says how to restore one that was deleted`
        : `expected ${failure.expected}, got ${failure.got}`;
    case 'bad-key':
    case 'bad-row':
      return `expected ${failure.expected}, got ${failure.got}`;
    case 'unconfigured':
      return `expected ${failure.expected}, got none`;
    case 'denied':
      return `denied, ${failure.code}${failure.file === undefined ? '' : ` of ${failure.file}`}`;
    case 'full':
      return `its file system is full, ${failure.code}`;
    case 'read-only':
      return `its file system is read-only, ${failure.code}`;
    case 'busy':
    case 'unreachable':
      return `${failure.kind}, ${failure.code}`;
    case 'other':
      return failure.code;
    default:
      return failure satisfies never;
  }
}
