import type { FileOrder, SortKey } from './file-order.ts';

/**
 * The token of a page: the sort key of its last row, opaque to the client. It stays valid while rows are added and
 * deleted, but only for the order that it was created for.
 */
export function cursorOf(row: SortKey, { fields }: FileOrder): string {
  const key = fields.map(({ field }) => row[field] ?? null);
  return Buffer.from(JSON.stringify([shapeOf({ fields }), key])).toString('base64url');
}

/**
 * A token that no page has returned before, for the rows after `token`, or for all rows if that is undefined. `nonce`
 * distinguishes it.
 */
export function freshCursor(token: string | undefined, { fields }: FileOrder, nonce: number): string {
  const [shape, key] = token === undefined ? [shapeOf({ fields }), null] : partsOf(token);
  return Buffer.from(JSON.stringify([shape, key, nonce])).toString('base64url');
}

/** The sort key in a token, `start` if it is for all rows, or undefined if it is not a token of this order. */
export function readCursor(token: string, { fields }: FileOrder): SortKey | 'start' | undefined {
  try {
    const [shape, key] = partsOf(token);
    if (shape === shapeOf({ fields }) && key === null) return 'start';
    if (shape !== shapeOf({ fields }) || !Array.isArray(key)) return undefined;
    return Object.fromEntries(fields.map(({ field }, index) => [field, key[index] ?? null]));
  } catch {
    return undefined;
  }
}

const partsOf = (token: string) =>
  JSON.parse(Buffer.from(token, 'base64url').toString('utf8')) as [unknown, unknown];

function shapeOf({ fields }: Pick<FileOrder, 'fields'>): string {
  return fields.map(({ field, descending }) => `${field}${descending ? '-' : '+'}`).join();
}
