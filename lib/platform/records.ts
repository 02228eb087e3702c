import * as z from 'zod/mini';
import { anyRecord } from '../base/index.ts';
import { type Id, idDigits, idSchema } from './id.ts';

/*
 * The platform's records, as in section 2 of its contract. Only what names a record is required of it. Documents of the
 * platform differ in everything else, so every other member is kept as it came, of whatever type, and is only counted
 * as odd where it is not as the contract has it.
 */

/** `none`: null or absent. */
type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'none';

/** The types that the contract and its practice give each member of a record, besides what names it. */
export type Members = Readonly<Record<string, readonly JsonType[]>>;

/** The members that a record may have: as they came, of any type, null or absent. A misspelt one does not compile. */
type Sent<M extends Members> = { readonly [Name in keyof M]?: unknown };

/** The types of members by what they are. Ids are digits as a number or as text, times epoch milliseconds or ISO text. */
const TYPES = {
  text: ['string'],
  flag: ['boolean'],
  list: ['array'],
  object: ['object'],
  idOrTime: ['number', 'string'],
  maybeText: ['string', 'none'],
  maybeNumber: ['number', 'none'],
  maybeIdOrTime: ['number', 'string', 'none'],
  maybeList: ['array', 'none'],
  maybeObject: ['object', 'none'],
  any: ['string', 'number', 'boolean', 'object', 'array', 'none'],
} as const satisfies Readonly<Record<string, readonly JsonType[]>>;

function membersOf<const Name extends string>(
  names: Readonly<Partial<Record<keyof typeof TYPES, readonly Name[]>>>,
): Readonly<Record<Name, readonly JsonType[]>> {
  const typed = (Object.keys(TYPES) as (keyof typeof TYPES)[]).flatMap((type) =>
    (names[type] ?? []).map((name) => [name, TYPES[type]] as const),
  );
  return Object.fromEntries(typed) as Record<string, readonly JsonType[]> as Readonly<
    Record<Name, readonly JsonType[]>
  >;
}

export const calculationRow = membersOf({
  text: ['name', 'status'],
  maybeText: ['legacyId'],
  idOrTime: ['owner', 'lastModified', 'created'],
  flag: ['global', 'locked', 'archived'],
  list: ['links'],
  object: ['activeLinks'],
});

/** A calculation as the search returns it: without its expression. */
export type CalculationRow = { readonly id: Id } & Sent<typeof calculationRow>;

export const calculation = {
  ...calculationRow,
  ...membersOf({
    text: ['expression', 'checkSum', 'dataType', 'cacheWindow'],
    flag: ['aggregated', 'analytic', 'hidden', 'variable'],
    list: ['nonAggregatedColumns', 'columnPositions', 'functions', 'functionTemplateDependencies'],
    maybeObject: ['activeLinks'],
  }),
};

/** A complete calculation: a named formula over the columns of a dataset. */
export type Calculation = { readonly id: Id } & Sent<typeof calculation>;

export const file = membersOf({
  text: ['path', 'name', 'fileType'],
  idOrTime: ['created'],
  maybeText: [
    'contentType',
    'hash',
    'hashAlgorithm',
    'downloadUrl',
    'connectorKey',
    'indexStatus',
    'indexReason',
  ],
  maybeNumber: ['size'],
  maybeIdOrTime: ['createdBy'],
});

/** A file or directory of a FileSet. `size` in bytes, null for a directory. */
export type FileRecord = { readonly id: string } & Sent<typeof file>;

export const card = membersOf({
  text: ['urn', 'type', 'title'],
  maybeText: ['chartType', 'datasourceId'],
  maybeIdOrTime: ['ownerId'],
  maybeList: ['owners'],
  flag: ['access'],
});

/** A visualization over a dataset. */
export type Card = { readonly id: Id } & Sent<typeof card>;

export const execution = membersOf({
  text: ['executionId', 'packageId', 'version', 'functionName'],
  idOrTime: ['startedOn'],
  maybeText: ['startedBy'],
  maybeIdOrTime: ['completedOn'],
  maybeObject: ['settings', 'stdout', 'stderr', 'errorInformation'],
  any: ['result'],
});

/** One run of a code function. HTTP 200 says nothing about its success: look at `status`. */
export type FunctionExecution = { readonly status: string } & Sent<typeof execution>;

export const sentiment = membersOf({
  text: ['type', 'model'],
  maybeText: ['sentiment', 'sessionId', 'requestId'],
  flag: ['isCustomerModel'],
  maybeObject: ['topicSentiments', 'modelProviderUsage'],
});

/** The sentiment of a text, by topic (`topicSentiments`, null for a topic without one) or overall (`sentiment`). */
export type Sentiment = Omit<Sent<typeof sentiment>, 'topicSentiments'> & {
  readonly topicSentiments?: Readonly<Record<string, unknown>>;
};

/** How many tokens a sentiment took; 0 where the platform does not say. */
export function tokensOf(given: Sentiment | undefined) {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens } = Object(given?.modelProviderUsage ?? {});
  return {
    input: totalIn(inputTokens) ?? 0,
    output: totalIn(outputTokens) ?? 0,
    total: totalIn(totalTokens) ?? 0,
    reasoning: totalIn(reasoningTokens) ?? 0,
  };
}

export const dataFile = membersOf({
  text: ['name'],
  idOrTime: ['datetimeCreated'],
  maybeIdOrTime: ['responsibleUserId'],
  maybeObject: ['currentRevision'],
  maybeList: ['revisions'],
  flag: ['existing'],
});

/** The metadata of a data file; revisions only if `expand` requests them. */
export type DataFile = { readonly dataFileId: Id } & Sent<typeof dataFile>;

/** Where the records of an answer are, and what names them: what lists, scans and jobs read answers by. */
export type RecordsIn = {
  /** The member that is the list. Default: the answer itself is the list, or the only record. */
  readonly member?: string;
  /** The fields that may name a record: the first that has a key does. */
  readonly keys: readonly string[];
  /** An integer, or the digits of one as text; or text that is not empty. */
  readonly keyIs: 'integer' | 'text';
  readonly members: Members;
};

/** The id in a field of a record: its digits, of `urn:card:12` 12, of the drill `dr:12:10` 12; undefined if it has none. */
export function idIn(field: string, value: unknown): Id | undefined {
  if (field !== 'urn' || typeof value !== 'string') return idDigits(value);
  return idDigits(/^dr:(\d+):/.exec(value)?.[1] ?? /(\d+)\D*$/.exec(value)?.[1]);
}

/** Schema of a record that is named by these fields. What names it is in the first one, as digits if it is an integer. */
export function recordIn<Name extends string, M extends Members>({
  keys,
  keyIs,
}: RecordsIn & { readonly keys: readonly [Name, ...string[]]; readonly members: M }) {
  const [name, ...others] = keys;
  const withKey = z.transform((given: unknown) => {
    if (others.length === 0 || typeof given !== 'object' || given === null) return given;
    const named = keys.find((key) => idIn(key, Reflect.get(given, key)) !== undefined);
    return named === undefined ? given : { ...given, [name]: idIn(named, Reflect.get(given, named)) };
  });
  const key =
    keyIs === 'integer' ? idSchema : z.string().check(z.minLength(1, { error: 'text that is not empty' }));
  return z.pipe(withKey, z.looseObject({ [name]: key })) as unknown as z.ZodMiniType<
    { readonly [Key in Name]: Id } & Sent<M>
  >;
}

/** Schema of an answer about the record that was asked for, which need not name it in this field, but names no other. */
export const aboutRecord = <Name extends string, M extends Members>(
  answer: z.ZodMiniType<Readonly<Record<string, unknown>>, unknown>,
  field: Name,
  id: Id,
) =>
  z.pipe(
    z.pipe(
      answer,
      z.transform((given) => ({ ...given, [field]: idDigits(given[field]) ?? id })),
    ),
    z.looseObject({ [field]: z.literal(id, { error: id }) }),
  ) as unknown as z.ZodMiniType<{ readonly [Key in Name]: Id } & Sent<M>, unknown>;

/** The total of a list, as a number or as text; null if none is given. */
export function totalIn(value: unknown): number | null {
  const total = typeof value === 'number' ? value : Number(idDigits(value) ?? Number.NaN);
  return total >= 0 && total < Number.POSITIVE_INFINITY ? total : null;
}

/** What an error says, whatever its status. */
const ERROR_MEMBERS = ['message', 'errorMessage', 'errorCode', 'toe'];

/** Whether an answer says that there is nothing to list: no list, no error, and no total, or one of rows `before` it. */
export const isNothing = (
  member: (name: string) => unknown,
  {
    list,
    total,
    before = 0,
  }: { readonly list: string; readonly total: unknown; readonly before?: number | undefined },
): boolean =>
  [list, ...ERROR_MEMBERS].every((name) => (member(name) ?? null) === null) &&
  (totalIn(total) ?? 0) <= before;

/** An answer of a list: null has no members. */
export const nullAsEmpty = z.transform((given: unknown) => given ?? {});

/** Any answer, with the members of an object or without any. */
export const anyAnswer = z.transform(
  (given: unknown): Readonly<Record<string, unknown>> =>
    anyRecord().safeParse(given).success ? Object(given) : {},
);

/** The members that are not as the contract has them, each with the types that came: `startedBy: number`. */
export const oddMembers = (
  members: Members,
  typesOf: (name: string) => readonly string[],
): readonly string[] =>
  Object.entries(members).flatMap(([name, types]) => {
    const odd = typesOf(name).filter(
      (type) => !(types as readonly string[]).includes(type === 'null' ? 'none' : type),
    );
    return odd.length === 0 ? [] : [`${name}: ${odd.join(', ')}`];
  });

/** The same of the records in a parsed answer. */
export function oddIn(
  { member, members }: Pick<RecordsIn, 'member' | 'members'>,
  answer: unknown,
): readonly string[] {
  const found = member === undefined ? answer : Object(answer)[member];
  const records: readonly unknown[] = Array.isArray(found) ? found : member === undefined ? [found] : [];
  const odd = records.flatMap((record) => oddMembers(members, (name) => [typeOf(Object(record)[name])]));
  return [...new Set(odd)];
}

function typeOf(value: unknown): string {
  if (value === undefined || value === null) return 'none';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

/** Epoch milliseconds as sent, as a number or as text, or from ISO text (in UTC without a zone). NaN for anything else. */
export function timeMs(sent: unknown): number {
  const number = idDigits(sent);
  if (typeof sent === 'number' || number !== undefined) return Number(number ?? sent);
  const [, local, zone] = typeof sent === 'string' ? (ISO_TIME.exec(sent) ?? []) : [];
  return local === undefined ? Number.NaN : Date.parse(`${local.replace(' ', 'T')}${zone ?? 'Z'}`);
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/;
