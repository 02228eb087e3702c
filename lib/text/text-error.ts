/** Where a text has a fault: `name` is the name of its file or object, `line` counts from 1. */
export type TextPosition = { readonly name?: string | undefined; readonly line?: number | undefined };

/**
 * Kinds of faults of a text. `gzip`: the compressed text ends early, after lines that were already returned. `option`: an
 * option cannot be applied.
 */
type TextFailure = 'option' | 'header' | 'columns' | 'format' | 'gzip' | 'encoding';

/** Thrown if a text cannot be read. The message says in which file and line, what was expected, and what to do. */
export class TextError extends Error {
  override readonly name = 'TextError';
  readonly failure: { readonly kind: TextFailure };

  constructor(
    kind: TextFailure,
    what: string,
    { name, line = 1 }: TextPosition = {},
    options?: ErrorOptions,
  ) {
    const file = name === undefined ? '' : `${name}: `;
    super(`${file}${kind === 'option' ? '' : `line ${line}: `}${what}`, options);
    this.failure = { kind };
  }
}

/** The error for something that is not a text, or has no rows. Default of `expected`: rows in any format. */
export const notRowsError = (
  got: string,
  { expected = ROWS, ...position }: TextPosition & { readonly expected?: string | undefined } = {},
): TextError => new TextError('format', `expected ${expected}, got ${got}`, position);

const ROWS = 'CSV, NDJSON or a JSON array of objects';
