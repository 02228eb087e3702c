import * as z from 'zod/mini';
import { filledText, uuid } from '../../../base/index.ts';

/**
 * The filter fields whose values are ids, and the form of these ids. For these fields the platform accepts a list of
 * ids, for other fields a string.
 */
const ID_FIELDS: Readonly<
  Record<string, { readonly expected: string; readonly isId: (text: string) => boolean }>
> = {
  dataset: {
    expected: 'the id of a dataset, which is a UUID',
    isId: (text) => uuid.safeParse(text).success,
  },
  card: {
    expected: 'the id of a card, which is digits, or several groups of digits with colons between them',
    isId: (text) => /^\d+(?::\d+)*$/.test(text),
  },
  owner: { expected: 'the id of a user, which is digits', isId: (text) => /^\d+$/.test(text) },
};

/** The parts of a filter `FIELD` or `FIELD:VALUE`. */
function parts(filter: string) {
  const [, written = '', value] = /([^:]*)(?::(.*))?/s.exec(filter) ?? [];
  const field = written.trim();
  return { field, value, ids: ID_FIELDS[field.toLowerCase().replace(/^not[ _-]?/, '')] };
}

const idsIn = (value: string): string[] => value.split(',').map((id) => id.trim());

/**
 * What was expected instead of this filter; undefined if it is valid. Which fields and values exist is not checked:
 * only the platform knows that.
 */
function fault(filter: string): string | undefined {
  const { field, value, ids } = parts(filter);
  if (field === '') return 'FIELD, or FIELD:VALUE';
  if (value === undefined) return undefined;
  if (ids !== undefined)
    return idsIn(value).every(ids.isId) ? undefined : `${field}:VALUE with ${ids.expected}`;
  return value.trim() === '' ? `${field}:VALUE with a value that is not empty` : undefined;
}

/** A filter of a search for calculations: `FIELD`, or `FIELD:VALUE`. Several ids are separated by commas. */
export const filterSchema = filledText.check(
  z.refine((filter: string) => fault(filter) === undefined, { error: ({ input }) => fault(String(input)) }),
);

/** A filter in the form that the platform accepts: ids as a list, other values as a string. */
export function requestFilter(filter: string) {
  const { field, value, ids } = parts(filter);
  if (value === undefined) return { field };
  return ids === undefined ? { field, value } : { field, idList: idsIn(value) };
}
