import { listed } from '../../../base/index.ts';

/** Why a source of texts cannot be read as rows at all. */
export type RowsFailure =
  | { readonly kind: 'option'; readonly option: string; readonly expected: string; readonly got: string }
  | { readonly kind: 'header'; readonly expected: string; readonly got: string }
  | { readonly kind: 'columns'; readonly missing: readonly string[]; readonly present: readonly string[] }
  | { readonly kind: 'format'; readonly expected: string; readonly got: string }
  | { readonly kind: 'gzip'; readonly got: string };

/** A source of texts cannot be read: none of it or, for `gzip`, nothing after the rows already returned. */
export class RowsError extends Error {
  override readonly name = 'RowsError';
  readonly failure: RowsFailure;

  constructor(failure: RowsFailure, options?: ErrorOptions) {
    super(`read rows: ${describe(failure)}`, options);
    this.failure = failure;
  }
}

function describe(failure: RowsFailure): string {
  switch (failure.kind) {
    case 'option':
      return `${failure.option}: expected ${failure.expected}, got ${failure.got}`;
    case 'header':
      return `the header line: expected ${failure.expected}, got ${failure.got}`;
    case 'columns':
      return `columns: expected ${listed(failure.missing)}, got a header with ${listed(failure.present)}`;
    case 'format':
      return `the file: expected ${failure.expected}, got ${failure.got}`;
    case 'gzip':
      return `gzip: expected a complete file, got ${failure.got}`;
    default:
      return failure satisfies never;
  }
}
