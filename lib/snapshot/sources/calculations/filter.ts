import * as z from 'zod/mini';
import { filledText, nearestName, utcTime, uuid } from '../../../base/index.ts';

/** The values of a field; of ids the platform takes a list. */
type Kind = {
  readonly expected: string;
  readonly isValue: (text: string) => boolean;
  readonly isId?: true;
};

const flag: Kind = { expected: 'true or false', isValue: (text) => /^(?:true|false)$/i.test(text) };
const text: Kind = { expected: 'a text', isValue: (value) => value.trim() !== '' };
const time: Kind = {
  expected: 'a date such as 2026-11-21, or epoch milliseconds',
  isValue: (value) => /^\d{1,16}$/.test(value) || utcTime.safeParse(value).success,
};
const user: Kind = {
  expected: 'the id of a user, which is digits',
  isValue: (value) => /^\d+$/.test(value),
  isId: true,
};
const dataset: Kind = {
  expected: 'the id of a dataset, which is a UUID',
  isValue: (value) => uuid.safeParse(value).success,
  isId: true,
};
const card: Kind = {
  expected: 'the id of a card, which is digits, also several with colons',
  isValue: (value) => /^\d+(?::\d+)*$/.test(value),
  isId: true,
};

/**
 * The fields by which the platform filters calculations, each also with `not` before it, and the kind of its values.
 */
const FIELDS: Readonly<Record<string, Kind>> = {
  active: flag,
  archived: flag,
  card,
  column: text,
  created: time,
  dataset,
  datatype: text,
  function: text,
  global: flag,
  inactive: flag,
  legacyid: text,
  link: text,
  locked: flag,
  modified: time,
  name: text,
  nested: flag,
  owner: user,
  status: text,
  variable: flag,
};

const names = Object.keys(FIELDS);

/** The field and the value of a filter as written: `FIELD`, or `FIELD:VALUE`. */
function parts(filter: string) {
  const [, written = '', value] = /^([^:]*)(?::(.*))?$/s.exec(filter) ?? [];
  const field = written.trim();
  const name = field.toLowerCase();
  return { field, value, kind: FIELDS[name] ?? FIELDS[name.replace(/^not[ _-]?/, '')] };
}

/** What is expected instead of a filter; undefined for one that the platform takes. */
function fault(filter: string): string | undefined {
  const { field, kind, value } = parts(filter);
  if (kind === undefined) {
    const nearest = nearestName(field.toLowerCase(), names);
    const hint = nearest === undefined ? '' : `, such as ${nearest}`;
    return `a filter of a field of calculations (${names.join(', ')}, or not before one of them)${hint}`;
  }
  const values = kind.isId ? value?.split(',') : value === undefined ? [] : [value];
  return values?.every(kind.isValue) === false ? `${field}:VALUE with ${kind.expected}` : undefined;
}

/** A filter of a search of calculations: `FIELD`, or `FIELD:VALUE`; ids may be several with commas. */
export const filterSchema = filledText.check(
  z.refine((filter: string) => fault(filter) === undefined, { error: ({ input }) => fault(String(input)) }),
);

/** A filter as the platform takes it: ids in a list, other values as text. */
export function requestFilter(filter: string) {
  const { field, kind, value } = parts(filter);
  if (value === undefined) return { field };
  return kind?.isId ? { field, idList: value.split(',') } : { field, value };
}
