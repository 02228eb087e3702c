import { assumptions } from '../assumptions.ts';
import type { AnomalyKind } from '../http/faults.ts';
import type { FileRow, FileSet } from './file-set.ts';

type FileQuery = FileSelection & {
  readonly fieldSort?: readonly { readonly field: string; readonly order: string }[] | undefined;
  readonly limit: number;
  readonly next?: string | undefined;
};

/** Returns a page of the files that match a query, or why the query is refused. */
export type SearchFiles = (
  query: FileQuery,
  flaws?: {
    /** Ids of rows that the total counts, but that are on no page. */
    readonly hidden?: ReadonlySet<string>;
    /** `empty-page`: the page has no rows. `repeat`: it begins with the last row of the previous page. */
    readonly anomaly?: AnomalyKind | undefined;
    /** A number that makes the cursor of an empty page different from all others. */
    readonly nonce?: number;
  },
) =>
  | {
      readonly kind: 'page';
      readonly rows: readonly FileRow[];
      /**
       * The cursor of the next page. As on the real platform, the last page repeats the cursor that was sent. Null if
       * the page has no rows, and on a last page that is also the first.
       */
      readonly next: string | null;
      readonly offset: number;
      readonly total: number;
    }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Creates the search of one FileSet. A cursor contains the sort key of the last row, not an offset. The matching rows
 * are cached until the FileSet changes.
 */
export function createFileSearch(fileSet: FileSet): SearchFiles {
  let cached: { readonly key: string; readonly rows: readonly FileRow[] } | undefined;

  const matchingRows = (query: FileQuery, matches: Matches, order: FileOrder) => {
    const { limit: _, next: __, ...selection } = query;
    const key = JSON.stringify([fileSet.version(), selection]);
    if (cached?.key !== key) cached = { key, rows: fileSet.rows().filter(matches).sort(order.compare) };
    return cached.rows;
  };

  return (query, { hidden = NONE, anomaly, nonce = 0 } = {}) => {
    const filter = fileFilter(query);
    if (filter.kind === 'refused') return filter;
    const parsedOrder = fileOrder(query.fieldSort);
    if (parsedOrder.kind === 'refused') return parsedOrder;
    const { order } = parsedOrder;
    const after = query.next === undefined ? undefined : readCursor(query.next, order);
    if (query.next !== undefined && after === undefined) {
      return { kind: 'refused', message: 'next: expected a token of this search' };
    }
    const hits = matchingRows(query, filter.matches, order);
    const visible = hidden.size === 0 ? hits : hits.filter(({ id }) => !hidden.has(id));
    const offset = after === undefined || after === 'start' ? 0 : positionAfter(visible, after, order);
    const page = { kind: 'page', offset, total: hits.length } as const;
    if (anomaly === 'empty-page') return { ...page, rows: [], next: freshCursor(query.next, order, nonce) };
    const first = anomaly === 'repeat' ? Math.max(0, offset - 1) : offset;
    const rows = visible.slice(first, offset + query.limit);
    return { ...page, rows, next: nextCursor(rows, visible.length - first, query.next, order) };
  };
}

const NONE: ReadonlySet<string> = new Set();

function nextCursor(
  rows: readonly FileRow[],
  remaining: number,
  sent: string | undefined,
  order: FileOrder,
): string | null {
  const last = rows.at(-1);
  if (last === undefined) return null;
  return remaining > rows.length ? cursorOf(last, order) : (sent ?? null);
}

/** The index of the first row after a sort key, by binary search. */
function positionAfter(rows: readonly FileRow[], key: SortKey, order: FileOrder): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (order.compare(rows[middle] ?? {}, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The cursor of a page: the sort key of its last row. It is valid only for the order for which it was created. */
function cursorOf(row: SortKey, { fields }: FileOrder): string {
  const key = fields.map(({ field }) => row[field] ?? null);
  return Buffer.from(JSON.stringify([shapeOf({ fields }), key])).toString('base64url');
}

/** A cursor that no page has returned before, for the same position as `token`. */
function freshCursor(token: string | undefined, { fields }: FileOrder, nonce: number): string {
  const [shape, key] = token === undefined ? [shapeOf({ fields }), null] : partsOf(token);
  return Buffer.from(JSON.stringify([shape, key, nonce])).toString('base64url');
}

/** Parses a cursor. `start` is the position before all rows. Undefined if it is not a cursor of this order. */
function readCursor(token: string, { fields }: FileOrder): SortKey | 'start' | undefined {
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

/** An order as a string, such as `path+,id+`. */
function shapeOf({ fields }: Pick<FileOrder, 'fields'>): string {
  return fields.map(({ field, descending }) => `${field}${descending ? '-' : '+'}`).join();
}

/** A total order of rows: if everything else is equal, the id decides. */
type FileOrder = {
  readonly fields: readonly { readonly field: keyof FileRow; readonly descending: boolean }[];
  compare(a: SortKey, b: SortKey): number;
};

type SortKey = Readonly<Partial<Record<keyof FileRow, string | number | null>>>;

const fileFields: readonly (keyof FileRow)[] = [
  'id',
  'path',
  'name',
  'fileType',
  'contentType',
  'size',
  'created',
  'createdBy',
  'hash',
  'hashAlgorithm',
  'downloadUrl',
  'connectorKey',
  'indexStatus',
  'indexReason',
];

function fileField(name: string): keyof FileRow | undefined {
  return fileFields.find((field) => field === name);
}

function fileOrder(
  sort: readonly { readonly field: string; readonly order: string }[] | undefined,
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

/** Compares values: nulls come first; numbers are compared as numbers, strings by UTF-16 code units. */
function compareValues(a: string | number | null, b: string | number | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}

/** The filters by which a search selects rows of a FileSet. */
type FileSelection = {
  readonly directoryPath?: string | undefined;
  readonly immediateChildren?: boolean | undefined;
  readonly filters?: readonly FieldFilter[] | undefined;
  readonly dateFilters?: readonly DateFilter[] | undefined;
};

type FieldFilter = {
  readonly field: string;
  readonly value: readonly string[];
  readonly not?: boolean | undefined;
  readonly operator: string;
};

/** A range of dates in ISO 8601. Both ends are included; a missing end is open. */
type DateFilter = {
  readonly field: string;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly not?: boolean | undefined;
};

type Matches = (row: FileRow) => boolean;

function fileFilter(
  selection: FileSelection,
):
  | { readonly kind: 'filter'; readonly matches: Matches }
  | { readonly kind: 'refused'; readonly message: string } {
  const tests: (Matches | string)[] = [
    directoryTest(selection.directoryPath ?? '', selection.immediateChildren ?? false),
    ...(selection.filters ?? []).map(fieldTest),
    ...(selection.dateFilters ?? []).map(dateTest),
  ];
  const message = tests.find((test) => typeof test === 'string');
  if (message !== undefined) return { kind: 'refused', message };
  const valid = tests.filter((test) => typeof test !== 'string');
  return { kind: 'filter', matches: (row) => valid.every((test) => test(row)) };
}

/* Each of these returns the test of a row, or a message that says why the filter is refused. */

function directoryTest(directoryPath: string, immediateChildren: boolean): Matches {
  const trimmed = directoryPath.replaceAll(/^\/+|\/+$/g, '');
  const start = trimmed === '' ? '/' : `/${trimmed}/`;
  return ({ path }) => path.startsWith(start) && !(immediateChildren && path.includes('/', start.length));
}

function fieldTest({ field, value, not = false, operator }: FieldFilter): Matches | string {
  const name = fileField(field);
  if (name === undefined) return `unknown filter field ${field}`;
  const compare = Object.hasOwn(OPERATORS, operator.toUpperCase())
    ? OPERATORS[operator.toUpperCase()]
    : undefined;
  if (compare === undefined) return `unknown operator ${operator}`;
  if (value.length === 0 && operator.toUpperCase() !== 'IS_NULL')
    return `${operator} of ${field} needs a value`;
  return (row) => compare(row[name], value) !== not;
}

type Compare = (cell: FileRow[keyof FileRow], values: readonly string[]) => boolean;

const isAnyOf: Compare = (cell, values) => cell !== null && values.includes(String(cell));

/** Compares numbers as numbers, everything else by UTF-16 code units. A null is neither above nor below anything. */
const byOrder =
  (holds: (order: number) => boolean): Compare =>
  (cell, [value = '']) => {
    if (cell === null) return false;
    if (typeof cell === 'number') return holds(cell - Number(value));
    return holds(cell < value ? -1 : cell > value ? 1 : 0);
  };

const OPERATORS: Readonly<Record<string, Compare>> = {
  EQUALS: isAnyOf,
  IN: isAnyOf,
  LIKE: (cell, values) =>
    cell !== null && values.some((each) => String(cell).toLowerCase().includes(each.toLowerCase())),
  IS_NULL: (cell) => cell === null,
  GREATER_THAN: byOrder((order) => order > 0),
  GREATER_THAN_OR_EQUAL: byOrder((order) => order >= 0),
  LESS_THAN: byOrder((order) => order < 0),
  LESS_THAN_OR_EQUAL: byOrder((order) => order <= 0),
};

function dateTest({ field, start, end, not = false }: DateFilter): Matches | string {
  if (field !== 'created') return `unknown date field ${field}`;
  const fromMs = start === undefined ? Number.NEGATIVE_INFINITY : Date.parse(start);
  const toMs = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(end);
  return ({ created }) => {
    const atMs = Date.parse(created);
    return (atMs >= fromMs && atMs <= toMs) !== not;
  };
}
