import { assumptions } from '../assumptions.ts';
import { type FileRow, fileField } from './file-row.ts';

export type FieldSort = { readonly field: string; readonly order: string };

/** A total order over rows: the id decides where everything else is equal. */
export type FileOrder = {
  readonly fields: readonly { readonly field: keyof FileRow; readonly descending: boolean }[];
  compare(a: SortKey, b: SortKey): number;
};

/** The values that a row is sorted by; a row is its own key. */
export type SortKey = Readonly<Partial<Record<keyof FileRow, string | number | null>>>;

/** The requested order, or what is wrong with it. */
export function fileOrder(
  sort: readonly FieldSort[] | undefined,
):
  | { readonly kind: 'order'; readonly order: FileOrder }
  | { readonly kind: 'refused'; readonly message: string } {
  const requested =
    sort === undefined || sort.length === 0 ? [{ field: assumptions.defaultFileSort, order: 'ASC' }] : sort;
  const fields: FileOrder['fields'][number][] = [];
  for (const { field, order } of [...requested, { field: 'id', order: 'ASC' }]) {
    const name = fileField(field);
    if (name === undefined) return { kind: 'refused', message: `unknown sort field ${field}` };
    if (!/^(asc|desc)$/i.test(order)) return { kind: 'refused', message: `unknown order ${order}` };
    fields.push({ field: name, descending: order.toLowerCase() === 'desc' });
  }
  return { kind: 'order', order: { fields, compare: comparison(fields) } };
}

function comparison(fields: FileOrder['fields']): FileOrder['compare'] {
  return (a, b) => {
    for (const { field, descending } of fields) {
      const order = compareValues(a[field] ?? null, b[field] ?? null);
      if (order !== 0) return descending ? -order : order;
    }
    return 0;
  };
}

/** Nulls first; numbers are compared as numbers, texts by UTF-16 code units. */
function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}
