import { type FileRow, fileField } from './file-row.ts';

/** Which rows of a FileSet a search selects (contract 4.3). */
export type FileSelection = {
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

/** Both ends are inclusive; a missing one is open. ISO 8601. */
type DateFilter = {
  readonly field: string;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly not?: boolean | undefined;
};

export type Matches = (row: FileRow) => boolean;

export function fileFilter(
  selection: FileSelection,
):
  | { readonly kind: 'filter'; readonly matches: Matches }
  | { readonly kind: 'refused'; readonly message: string } {
  const tests: (Matches | string)[] = [
    directoryTest(selection.directoryPath ?? '', selection.immediateChildren ?? false),
    ...(selection.filters ?? []).map(fieldTest),
    ...(selection.dateFilters ?? []).map(dateTest),
  ];
  const wrong = tests.find((test) => typeof test === 'string');
  if (wrong !== undefined) return { kind: 'refused', message: wrong };
  const valid = tests.filter((test) => typeof test !== 'string');
  return { kind: 'filter', matches: (row) => valid.every((test) => test(row)) };
}

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

type Cell = FileRow[keyof FileRow];
type Compare = (cell: Cell, wanted: readonly string[]) => boolean;

const isAnyOf: Compare = (cell, wanted) => cell !== null && wanted.includes(String(cell));

/** Compares numbers as numbers, everything else by UTF-16 code units; a null is neither above nor below anything. */
const ordered =
  (holds: (order: number) => boolean): Compare =>
  (cell, [wanted = '']) => {
    if (cell === null) return false;
    if (typeof cell === 'number') return holds(cell - Number(wanted));
    return holds(cell < wanted ? -1 : cell > wanted ? 1 : 0);
  };

const OPERATORS: Readonly<Record<string, Compare>> = {
  EQUALS: isAnyOf,
  IN: isAnyOf,
  LIKE: (cell, wanted) =>
    cell !== null && wanted.some((each) => String(cell).toLowerCase().includes(each.toLowerCase())),
  IS_NULL: (cell) => cell === null,
  GREATER_THAN: ordered((order) => order > 0),
  GREATER_THAN_OR_EQUAL: ordered((order) => order >= 0),
  LESS_THAN: ordered((order) => order < 0),
  LESS_THAN_OR_EQUAL: ordered((order) => order <= 0),
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
