import { exactReference, type LeafKind, unescaped } from './exact-reference.ts';
import { DATA_FILE, type Found, type FoundIn } from './found-records.ts';
import { UUID } from './response-inputs.ts';

/* The records of a response according to a parser that shares no code with the snapshot readers. */

type Leaf = { readonly kind: LeafKind; readonly source: string };
type Members = ReadonlyMap<string, unknown>;

/** What a reader must find, in the form that `shownOf` returns. */
export type Expected = {
  readonly keys: readonly string[];
  /** Each line, parsed. */
  readonly records: readonly unknown[];
  /** The number of elements without an id. They are left out, unless all elements lack one. */
  readonly unnamed: number;
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly next?: string | null;
  readonly total?: number | null;
};

const parsed = (text: string): unknown =>
  exactReference(
    text,
    (kind, source): Leaf => ({ kind, source: kind === 'text' ? unescaped(source) : source }),
  );

/** Converts what a reader found to the form that is compared. */
export const shownOf = ({ keys, lines, fields, unnamed = [], ...rest }: Found): Expected => ({
  ...rest,
  unnamed: unnamed.length,
  keys,
  records: lines.map(parsed),
  fields: Object.fromEntries(Object.keys(fields).map((name) => [name, fields[name]?.toSorted() ?? []])),
});

/** What a reader must find in a response; undefined if it must reject the response. */
export function expectedIn(name: FoundIn, text: string): Expected | undefined {
  const value = parsed(text);
  return value === undefined ? undefined : readers[name](value);
}

const readers: Readonly<Record<FoundIn, (value: unknown) => Expected | undefined>> = {
  listCards(value) {
    if (!isThere(value)) return { keys: [], records: [], unnamed: 0, fields: {} };
    if (!Array.isArray(value)) return undefined;
    const cards = value.flatMap((card: Members, at) => {
      const id = cardId(card);
      return id === undefined ? [] : [{ id: BigInt(id), card, at }];
    });
    if (value.length > 0 && cards.length === 0) return undefined;
    const unnamed = value.length - cards.length;
    cards.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.at - b.at));
    const once = cards.filter(({ id }, at) => id !== cards[at - 1]?.id);
    const isOwn = (card: Members) => textIn(memberOf(card, 'datasourceId')) === UUID;
    return {
      keys: once.map(({ id }) => `${UUID}/${id}`),
      records: once
        .map(({ card, id }) => named('id', id, card))
        .map((card) => (isOwn(card) ? card : owned('_datasetId', card))),
      unnamed,
      fields: typesIn(value, once.some(({ card }) => !isOwn(card)) ? '_datasetId' : undefined),
    };
  },
  searchFiles(value) {
    if (isThere(value) && !(value instanceof Map)) return undefined;
    const [files, context] = [memberOf(value, 'files'), memberOf(value, 'pageContext')];
    const [next, total] = [memberOf(context, 'next'), totalIn(memberOf(context, 'total'))];
    const others = new Map([...entriesOf(value), ...entriesOf(context)]);
    others.delete('pageContext');
    const isEmpty =
      !isThere(others.get('files')) &&
      !isError(others) &&
      (total === null ? !mayHoldList(others) : total === 0);
    if (!Array.isArray(files) && !isEmpty) return undefined;
    const list: readonly unknown[] = Array.isArray(files) ? files : [];
    const idOf = (file: unknown) => textIn(memberOf(file, 'id')) ?? '';
    const named = list.filter((file) => idOf(file) !== '');
    if (list.length > 0 && named.length === 0) return undefined;
    if (isThere(next) && !(isLeaf(next) && next.kind !== 'word')) return undefined;
    return {
      keys: named.map((file) => `${UUID}/${idOf(file)}`),
      records: named.map((file) => owned('_filesetId', file as Members)),
      unnamed: list.length - named.length,
      fields: typesIn(list, list.length > 0 ? '_filesetId' : undefined),
      next: isLeaf(next) && next.kind !== 'word' ? cursorIn(next) : null,
      total,
    };
  },
  getDataFile(value) {
    const id = integerIn(memberOf(value, 'dataFileId')) ?? DATA_FILE;
    if (!(value instanceof Map) || id !== DATA_FILE) return undefined;
    const record = named('dataFileId', BigInt(DATA_FILE), value);
    return { keys: [DATA_FILE], records: [record], unnamed: 0, fields: typesIn([value]) };
  },
};

const cursorIn = ({ kind, source }: Leaf): string | null =>
  (kind === 'number' && !/^-?\d+$/.test(source) ? String(Number(source)) : source) || null;

const ERRORS = ['message', 'errorMessage', 'errorCode', 'toe', 'error', 'errors', 'statusReason'];

function isError(value: unknown): boolean {
  const isCode = (code: unknown) => isLeaf(code) && code.kind === 'number' && Number(code.source) >= 400;
  const isFilled = (given: unknown) =>
    Array.isArray(given)
      ? given.length > 0
      : isThere(given) && !(isLeaf(given) && ['', 'false'].includes(given.source));
  return (
    ERRORS.some((name) => isFilled(memberOf(value, name))) ||
    ['status', 'statusCode', 'code'].some((name) => isCode(memberOf(value, name)))
  );
}

const entriesOf = (value: unknown): Iterable<[string, unknown]> => (value instanceof Map ? value : []);

/** Whether a member may be the list under another name: a non-empty list or object. */
const mayHoldList = (value: unknown): boolean =>
  value instanceof Map &&
  [...value.values()].some((member) =>
    member instanceof Map
      ? [...member.values()].some(isThere)
      : Array.isArray(member) && member.some(isThere),
  );

function cardId(card: unknown): string | undefined {
  const urn = textIn(memberOf(card, 'urn')) ?? '';
  const digits = urn.startsWith('dr:') ? urn.split(':')[1] : urn.match(/\d+/g)?.at(-1);
  const urnId = integerIn(digits === undefined ? memberOf(card, 'urn') : { kind: 'text', source: digits });
  return integerIn(memberOf(card, 'id')) ?? urnId ?? integerIn(memberOf(card, 'kpiId'));
}

/** A record with its key in the key field, appended at the end if the record lacks the field. */
const named = (name: string, id: bigint, record: Members): Members => {
  if (integerIn(memberOf(record, name)) !== undefined) return record;
  return new Map<string, unknown>([...record, [name, { kind: 'number', source: String(id) }]]);
};

function totalIn(value: unknown): number | null {
  const total = integerIn(value);
  return total === undefined || Number(total) < 0 ? null : Number(total);
}

/** A record with its owner as the first member, unless the record has an owner itself. */
const owned = (name: string, record: Members): Members =>
  new Map<string, unknown>([[name, { kind: 'text', source: UUID }], ...record]);

const isLeaf = (value: unknown): value is Leaf =>
  typeof value === 'object' && value !== null && 'kind' in value;
const isThere = (value: unknown): boolean =>
  value !== undefined && !(isLeaf(value) && value.kind === 'word' && value.source === 'null');
const memberOf = (value: unknown, name: string): unknown =>
  value instanceof Map ? value.get(name) : undefined;
const textIn = (value: unknown): string | undefined =>
  isLeaf(value) && value.kind === 'text' ? value.source : undefined;

/** The digits of an id: an integer of at most 64 digits as number or text, or a number that a double holds exactly. */
function integerIn(value: unknown): string | undefined {
  if (!isLeaf(value) || value.kind === 'word') return undefined;
  if (/^-?\d{1,64}$/.test(value.source)) return String(BigInt(value.source));
  const number = value.kind === 'number' ? Number(value.source) : Number.NaN;
  return Number.isSafeInteger(number) && !/^-?\d+$/.test(value.source) ? String(number) : undefined;
}

function typeOf(value: unknown): string {
  if (value instanceof Map) return 'object';
  if (Array.isArray(value)) return 'array';
  if (!isLeaf(value)) return 'nothing';
  if (value.kind === 'text') return 'string';
  return value.kind === 'number' ? 'number' : value.source === 'null' ? 'null' : 'boolean';
}

/** The types of the fields of all records, and of the field `first`, which is put before them. */
function typesIn(records: readonly unknown[], first?: string): Expected['fields'] {
  const types = new Map<string, Set<string>>();
  for (const record of records)
    for (const [name, value] of record instanceof Map ? record : [])
      types.set(name, new Set([...(types.get(name) ?? []), typeOf(value)]));
  if (first !== undefined) types.set(first, new Set(['string']));
  return Object.fromEntries([...types].map(([name, seen]) => [name, [...seen].toSorted()]));
}
