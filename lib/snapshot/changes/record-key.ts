import { compareIds, idDigits } from '../../platform/id.ts';
import type { Source } from '../keys.ts';

/**
 * A record's key, from its fields: the digits of an id, or the parts of a compound key with a slash between them.
 * Undefined if a field that it needs is absent.
 */
export function recordKey(source: Source, record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const fields = record as Readonly<Record<string, unknown>>;
  switch (source) {
    case 'calculations':
      return idDigits(fields['id']);
    case 'data-files':
      return idDigits(fields['dataFileId']);
    case 'files':
      return compound(text(fields['_filesetId']), text(fields['id']));
    case 'cards':
      return compound(text(fields['_datasetId'] ?? fields['datasourceId']), idDigits(fields['id']));
    default:
      return source satisfies never;
  }
}

/** The fields that `recordKey` needs, for people. */
export const keyFields = {
  calculations: 'an integer as its id',
  'data-files': 'an integer as its dataFileId',
  files: '_filesetId and id',
  cards: '_datasetId or datasourceId, and an integer as its id',
} as const satisfies Record<Source, string>;

/** Orders two keys of a source: ids as integers of any size, cards by dataset and then by id, files as text. */
export function compareRecordKeys(source: Source): (a: string, b: string) => number {
  switch (source) {
    case 'calculations':
    case 'data-files':
      return compareIds;
    case 'files':
      return compareTexts;
    case 'cards':
      return compareCardKeys;
    default:
      return source satisfies never;
  }
}

function compareCardKeys(a: string, b: string): number {
  // A dataset's id may hold slashes, a card's cannot.
  const [left, right] = [a.lastIndexOf('/'), b.lastIndexOf('/')];
  return (
    compareTexts(a.slice(0, left), b.slice(0, right)) || compareIds(a.slice(left + 1), b.slice(right + 1))
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : idDigits(value));

const compound = (owner: string | undefined, id: string | undefined): string | undefined =>
  owner === undefined || id === undefined ? undefined : `${owner}/${id}`;
