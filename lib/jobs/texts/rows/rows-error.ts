/** Why a source of texts cannot be read as rows at all. */
export type RowsFailure =
  | { readonly kind: 'option'; readonly option: string; readonly expected: string; readonly got: string }
  | { readonly kind: 'header'; readonly expected: string; readonly got: string }
  | { readonly kind: 'columns'; readonly lacking: readonly string[]; readonly there: readonly string[] }
  | { readonly kind: 'gzip'; readonly got: string };

/** A source of texts cannot be read: nothing of it, or with `gzip` nothing after the rows that came. */
export class RowsError extends Error {
  override readonly name = 'RowsError';
  readonly failure: RowsFailure;

  constructor(failure: RowsFailure, options?: ErrorOptions) {
    super(`read rows: ${wordsOf(failure)}`, options);
    this.failure = failure;
  }
}

function wordsOf(failure: RowsFailure): string {
  switch (failure.kind) {
    case 'option':
      return `${failure.option}: expected ${failure.expected}, got ${failure.got}`;
    case 'header':
      return `the header line: expected ${failure.expected}, got ${failure.got}`;
    case 'columns':
      return `columns: expected ${listed(failure.lacking)}, got a header of ${listed(failure.there)}`;
    case 'gzip':
      return `gzip: expected a whole file, got ${failure.got}`;
    default:
      return failure satisfies never;
  }
}

const listed = (names: readonly string[]) => names.map((name) => JSON.stringify(name)).join(', ');
