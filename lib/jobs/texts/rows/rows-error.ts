/**
 * A source of texts cannot be read as rows: none of it or, for `gzip`, nothing after the rows already returned. `option`:
 * it was requested in a way that cannot be.
 */
export class RowsError extends Error {
  override readonly name = 'RowsError';
  readonly failure: { readonly kind: 'option' | 'header' | 'columns' | 'format' | 'gzip' };

  constructor(kind: RowsError['failure']['kind'], what: string, options?: ErrorOptions) {
    super(`read rows: ${what}`, options);
    this.failure = { kind };
  }
}

/** A file that cannot be read as rows of texts. */
export const notRows = (got: string) =>
  new RowsError('format', `the file: expected CSV, NDJSON or a JSON array of objects, got ${got}`);
