/** A function of a package: `source` is one JavaScript function expression, which may be async. */
export type CodeFunction = {
  readonly name: string;
  /** The inputs, passed by position in the order of their declaration. */
  readonly inputs: readonly (DeclaredType & { readonly name: string })[];
  readonly output: DeclaredType;
  readonly source: string;
  /** Data of the platform that the function receives after its inputs (assumed). */
  readonly reads?: 'formulas' | undefined;
};

/** A version of a package. Only a released version can be run. */
export type CodePackage = {
  readonly id: string;
  readonly name: string;
  readonly versions: readonly {
    readonly version: string;
    readonly released: boolean;
    readonly functions: readonly CodeFunction[];
  }[];
};

type ValueType =
  | 'text'
  | 'number'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'dateTime'
  | 'time'
  | 'duration'
  | 'object';

/** A declared type. With `nullable`, the whole value may be null; elements of a list are never null (assumed). */
export type DeclaredType = { readonly type: ValueType; readonly isList: boolean; readonly nullable: boolean };

/** The type of an actual value; `null`, `mixed` or `unknown` (an empty list) if no declared type fits. */
type ActualType = { readonly type: string; readonly isList: boolean };

/** Whether a JSON value has a declared type. */
export function matchesType(value: unknown, declared: DeclaredType): boolean {
  if (value === null) return declared.nullable;
  const matches = matchers[declared.type];
  if (!declared.isList) return matches(value);
  return Array.isArray(value) && value.every((element) => matches(element));
}

/** The type of a JSON value, in the platform's words; a string that contains a date is `text`. */
export function actualTypeOf(value: unknown): ActualType {
  if (!Array.isArray(value)) return { type: typeNameOf(value), isList: false };
  const names = new Set(value.map(typeNameOf));
  if (names.has('decimal')) names.delete('number');
  const [only = 'unknown'] = names;
  return { type: names.size > 1 ? 'mixed' : only, isList: true };
}

/** A declared type in words, such as `list of date (YYYY-MM-DD) or null`. */
export function formatDeclaredType({ type, isList, nullable }: DeclaredType): string {
  const format = FORMATS[type];
  return `${isList ? 'list of ' : ''}${type}${format ? ` (${format})` : ''}${nullable ? ' or null' : ''}`;
}

/** An actual type in words, such as `list of text`. */
export function formatActualType({ type, isList }: ActualType): string {
  return `${isList ? 'list of ' : ''}${type}`;
}

/** The type of a single value that must not be null. */
export function one(type: ValueType): DeclaredType {
  return { type, isList: false, nullable: false };
}

/** The type of a list that must not be null. */
export function listOf(type: ValueType): DeclaredType {
  return { type, isList: true, nullable: false };
}

/** A type that also allows null. */
export function orNull(declared: DeclaredType): DeclaredType {
  return { ...declared, nullable: true };
}

const FORMATS: Partial<Record<ValueType, string>> = {
  number: 'whole',
  date: 'YYYY-MM-DD',
  dateTime: 'ISO 8601',
  time: 'HH:MM[:SS[.fff]]',
  duration: 'ISO 8601, such as PT90M',
};

const TIME_FORM = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?$/;
const OFFSET_FORM = /^(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
const DURATION_FORM =
  /^-?P(?=\d|T\d)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d{1,9})?S)?)?$/;

const matchers: Record<ValueType, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => Number.isSafeInteger(value),
  decimal: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  date: (value) => typeof value === 'string' && isDate(value),
  dateTime: (value) => typeof value === 'string' && isDateTime(value),
  time: (value) => typeof value === 'string' && TIME_FORM.test(value),
  duration: (value) => typeof value === 'string' && DURATION_FORM.test(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

/** Whether it is a real calendar day: 2026-02-29 is not. */
function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const epochMs = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(epochMs) && new Date(epochMs).toISOString().startsWith(text);
}

function isDateTime(text: string): boolean {
  const [, date = '', time = '', offset = ''] = /^([^T]*)T([\d:.]*)(.*)$/.exec(text) ?? [];
  return isDate(date) && TIME_FORM.test(time) && (offset === '' || OFFSET_FORM.test(offset));
}

function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'number' : 'decimal';
  return typeof value;
}
