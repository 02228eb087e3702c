import * as z from 'zod/mini';
import { anyRecord } from '../base/index.ts';

/*
 * The platform's records, as in the platform's API. Only a record's id is required. Descriptions of the platform
 * disagree about all other members, so these stay as received, whatever their type. A member that differs from the
 * API is only counted as odd.
 */

/** The types of JSON values. `none` means null or absent. */
type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'none';

/**
 * The types that each member of a record has, in the API's description and in practice. The member with the record's id is not
 * listed.
 */
type Members = Readonly<Record<string, readonly JsonType[]>>;

/** The members that a record may have, as received: of any type, null or absent. A misspelt name does not compile. */
type Sent<M extends Members> = { readonly [Name in keyof M]?: unknown };

/** Sets of types by meaning. Ids are digits, as a number or a string. Times are epoch milliseconds or ISO 8601. */
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

/** The members of a calculation as the search returns it. */
export const calculationRow = {
  /** Its name; not unique. */ name: TYPES.text,
  /** VALID or INVALID. */ status: TYPES.text,
  /** Its id in an older interface of the platform. */ legacyId: TYPES.maybeText,
  /** The id of the user who owns it: digits, as a number or as text. */ owner: TYPES.idOrTime,
  /** When it was last changed: epoch milliseconds or ISO text. */ lastModified: TYPES.idOrTime,
  /** When it was created: epoch milliseconds or ISO text. */ created: TYPES.idOrTime,
  /** Whether it is offered on every dataset. */ global: TYPES.flag,
  /** Whether only its owner or an administrator may change it. */ locked: TYPES.flag,
  /** Whether it is archived. */ archived: TYPES.flag,
  /** Where it is saved and used, each as `{resource: {type, id}, visible, active, valid}`. */ links:
    TYPES.list,
  /** The ids of what it is linked to, as lists by type: DATA_SOURCE, CARD, FUNCTION_TEMPLATE. */ activeLinks:
    TYPES.object,
} as const satisfies Members;

/** A calculation as the search returns it, without its expression. Members besides `id` are as received. */
export type CalculationRow = { /** Digits of any length. */ readonly id: Id } & Sent<typeof calculationRow>;

/** The members of a complete calculation. */
export const calculation = {
  ...calculationRow,
  /** The text of the formula. */ expression: TYPES.text,
  /** The SHA-1 of the formula in UTF-8, in hex of lower case. */ checkSum: TYPES.text,
  /** What the formula yields: STRING, LONG, DECIMAL, DOUBLE, DATE or DATETIME. */ dataType: TYPES.text,
  /** How long its values are cached: day or non_dynamic. */ cacheWindow: TYPES.text,
  /** Whether the formula contains an aggregate. */ aggregated: TYPES.flag,
  /** Whether the formula contains a window function. */ analytic: TYPES.flag,
  /** Whether it is omitted from lists that users see. */ hidden: TYPES.flag,
  /** Whether it is a variable. */ variable: TYPES.flag,
  /** Names in backticks of columns outside any aggregate. */ nonAggregatedColumns: TYPES.list,
  /** Each occurrence of a column: `{columnName, columnPosition}`, from 0, in UTF-16 code units. */ columnPositions:
    TYPES.list,
  /** Unique names of functions in upper case, in no order. */ functions: TYPES.list,
  /** The ids of the calculations that the formula refers to. */ functionTemplateDependencies: TYPES.list,
  /** The same links as in a row of a search; null without links. */ activeLinks: TYPES.maybeObject,
} as const satisfies Members;

/** A complete calculation: a named formula over the columns of a dataset. Members besides `id` are as received. */
export type Calculation = { /** Digits of any length. */ readonly id: Id } & Sent<typeof calculation>;

/** The members of a file. */
export const file = {
  /** Its path in the FileSet, with its name. */ path: TYPES.text,
  /** The last part of the path. */ name: TYPES.text,
  /** DIRECTORY, TEXT, DOCUMENT, IMAGE, AUDIO, VIDEO, OTHER or UNKNOWN. */ fileType: TYPES.text,
  /** When it was created: ISO text or epoch milliseconds. */ created: TYPES.idOrTime,
  /** The media type, such as text/csv; null for a directory. */ contentType: TYPES.maybeText,
  /** The hash of the content; null for a directory. */ hash: TYPES.maybeText,
  /** The algorithm of the hash: SHA_1, SHA_256_HEX, MD5 or UNKNOWN. */ hashAlgorithm: TYPES.maybeText,
  /** An address that is valid for a short time. */ downloadUrl: TYPES.maybeText,
  /** The connector that delivered it; null for an upload. */ connectorKey: TYPES.maybeText,
  /** PENDING, QUEUED, IN_PROGRESS, RAG_RECEIVED, COMPLETED, FAILED, SKIPPED or UNKNOWN. */ indexStatus:
    TYPES.maybeText,
  /** Why it was not indexed. */ indexReason: TYPES.maybeText,
  /** The size in bytes; null for a directory. */ size: TYPES.maybeNumber,
  /** The id of the user who created it: digits, as a number or as text. */ createdBy: TYPES.maybeIdOrTime,
} as const satisfies Members;

/** A file or directory of a FileSet. `size` in bytes, null for a directory. */
export type FileRecord = { /** A UUID. */ readonly id: string } & Sent<typeof file>;

/** The members of a card. */
export const card = {
  /** The digits of its id, or `dr:DRILL:ROOT` for the card of a drill. */ urn: TYPES.text,
  /** What kind of card it is, such as kpi. */ type: TYPES.text,
  /** Its title; not unique. */ title: TYPES.text,
  /** How the card is drawn, such as bar. */ chartType: TYPES.maybeText,
  /** The id of the dataset that it is built on. */ datasourceId: TYPES.maybeText,
  /** The id of the user who owns it: digits, as a number or as text. */ ownerId: TYPES.maybeIdOrTime,
  /** Its owners, each as `{id, type, displayName}`, with the type USER or GROUP. */ owners: TYPES.maybeList,
  /** False if the token's user may not open it. */ access: TYPES.flag,
} as const satisfies Members;

/** A visualization over a dataset. */
export type Card = { /** Digits of any length. */ readonly id: Id } & Sent<typeof card>;

/** The members of an execution of a code function. */
export const execution = {
  /** The id of this run. */ executionId: TYPES.text,
  /** The UUID of the package. */ packageId: TYPES.text,
  /** The version of the package. */ version: TYPES.text,
  /** The function that ran. */ functionName: TYPES.text,
  /** When it began: ISO text or epoch milliseconds. */ startedOn: TYPES.idOrTime,
  /** Who ran it. */ startedBy: TYPES.maybeText,
  /** When it ended: ISO text or epoch milliseconds; null while it runs. */ completedOn: TYPES.maybeIdOrTime,
  /** The settings that it ran with. */ settings: TYPES.maybeObject,
  /** What it logged. */ stdout: TYPES.maybeObject,
  /** What it logged as errors. */ stderr: TYPES.maybeObject,
  /** What it threw, or why its output is not of the declared type. */ errorInformation: TYPES.maybeObject,
  /** Its output: any JSON; null or absent if it returned nothing. */ result: TYPES.any,
} as const satisfies Members;

/** One run of a code function. HTTP 200 does not mean success: check `status`. */
export type FunctionExecution = {
  /** SUCCESS, FAILED, RESULT_TYPE_FAILURE, OUTPUT_UNDEFINED, RUNNING or UNDEFINED. */ readonly status: string;
} & Sent<typeof execution>;

/** The members of a response with a sentiment. */
export const sentiment = {
  /** DEFAULT, or the kind of the request with topics. */ type: TYPES.text,
  /** The model that read the text. */ model: TYPES.text,
  /** positive, negative, neutral or not_applicable, in either case; null if topics were requested. */ sentiment:
    TYPES.maybeText,
  /** The session of the request, if it had one. */ sessionId: TYPES.maybeText,
  /** The platform's own id for the request. */ requestId: TYPES.maybeText,
  /** Whether the model is one of your own. */ isCustomerModel: TYPES.flag,
  /** The sentiment of each requested topic, by its name. */ topicSentiments: TYPES.maybeObject,
  /** `{inputTokens, outputTokens, totalTokens, reasoningTokens}`, or null. */ modelProviderUsage:
    TYPES.maybeObject,
} as const satisfies Members;

/** The sentiment of a text, by topic (`topicSentiments`, null for a topic without one) or overall (`sentiment`). */
export type Sentiment = Omit<Sent<typeof sentiment>, 'topicSentiments'> & {
  /** The sentiment of each requested topic, by its name; null or absent for a topic that the text does not mention. */
  readonly topicSentiments?: Readonly<Record<string, unknown>>;
};

/** The tokens that a sentiment used; 0 if the platform does not report them. */
export function tokensOf(given: Sentiment | undefined) {
  const { inputTokens, outputTokens, totalTokens, reasoningTokens } = Object(given?.modelProviderUsage ?? {});
  return {
    input: totalIn(inputTokens) ?? 0,
    output: totalIn(outputTokens) ?? 0,
    total: totalIn(totalTokens) ?? 0,
    reasoning: totalIn(reasoningTokens) ?? 0,
  };
}

/** The members of a data file. */
export const dataFile = {
  /** Its name; not unique. */ name: TYPES.text,
  /** When it was created: epoch milliseconds or ISO text. */ datetimeCreated: TYPES.idOrTime,
  /** The id of the user who is responsible for it: digits, as a number or as text. */ responsibleUserId:
    TYPES.maybeIdOrTime,
  /** Its newest revision, if metadata was expanded. */ currentRevision: TYPES.maybeObject,
  /** All of its revisions, if revisions were expanded. */ revisions: TYPES.maybeList,
  /** False if it was deleted. */ existing: TYPES.flag,
} as const satisfies Members;

/** The metadata of a data file; revisions only if `expand` requests them. */
export type DataFile = { /** Digits of any length. */ readonly dataFileId: Id } & Sent<typeof dataFile>;

/** The member of a response that lists the records, and the fields that may have a record's id. */
export type RecordsIn = {
  /** The member that holds the list. Default: the response itself is the list, or the only record. */
  readonly member?: string;
  /** The fields that may have a record's id. The first field with a valid id is used. */
  readonly keys: readonly string[];
  /** The form of an id: an integer (as a number or digits), or a string that is not empty. */
  readonly keyIs: 'integer' | 'text';
  readonly members: Members;
};

/**
 * The id in a field of a record, as digits. In a `urn` field: 12 for `urn:card:12`, and 12 for the drill `dr:12:10`.
 * Undefined if the value has no id.
 */
export function idIn(field: string, value: unknown): Id | undefined {
  if (field !== 'urn' || typeof value !== 'string') return idDigits(value);
  return idDigits(/^dr:(\d+):/.exec(value)?.[1] ?? /(\d+)\D*$/.exec(value)?.[1]);
}

/**
 * Schema of a record with its id in one of these fields. The output has the id in the first field, as digits if it
 * is an integer.
 */
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

/** Schema of a response about one record. The response may lack the record's id, but it must not have another one. */
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

/** The total of a list, received as a number or a string; null if it is missing. */
export function totalIn(value: unknown): number | null {
  const total = typeof value === 'number' ? value : Number(idDigits(value) ?? Number.NaN);
  return total >= 0 && total < Number.POSITIVE_INFINITY ? total : null;
}

/** Whether a flag of a response is set: true, 1, or one of the strings `true`, `yes` and `1`. */
export const isSet = (flag: unknown): boolean =>
  flag === true || flag === 1 || (typeof flag === 'string' && /^\s*(true|yes|1)\s*$/i.test(flag));

/** The members of an error response, whatever its status. */
const ERROR_MEMBERS = [
  'message',
  'errorMessage',
  'errorCode',
  'toe',
  'error',
  'errors',
  'statusReason',
] as const;

/** Whether a response is an error: one of `ERROR_MEMBERS` is not empty, or it has a status of 400 or above. */
export const isErrorAnswer = (answer: Readonly<Record<string, unknown>>): boolean =>
  ERROR_MEMBERS.some((name) => isFilled(answer[name])) ||
  ['status', 'statusCode', 'code'].some((name) => typeof answer[name] === 'number' && answer[name] >= 400);

const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : ![undefined, null, '', false].includes(value as null);

/**
 * Whether a response has no list because there is nothing to list: it is not an error, and its total is at most the
 * number of rows that were already read (`before`). Without a total it must have no other list or object with content,
 * which might be the list under another name.
 */
export const isNothing = (
  answer: Readonly<Record<string, unknown>>,
  options: { readonly list: string; readonly total: unknown; readonly before?: number | undefined },
): boolean => {
  const { list, before = 0 } = options;
  const total = totalIn(options.total);
  if ((answer[list] ?? null) !== null || isErrorAnswer(answer)) return false;
  return total === null ? !Object.values(answer).some(hasContent) : total <= before;
};

const hasContent = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some((part) => (part ?? null) !== null);

/** Turns null into an object without members, for a response with a list. */
export const nullAsEmpty = z.transform((given: unknown) => given ?? {});

/** Turns any response into an object: unchanged if it is an object, otherwise without members. */
export const anyAnswer = z.transform(
  (given: unknown): Readonly<Record<string, unknown>> =>
    anyRecord().safeParse(given).success ? Object(given) : {},
);

/** Lists the members that differ from the platform's API, each with the types received, such as `startedBy: number`. */
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

/** Lists the odd members of all records in a parsed response. */
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

/**
 * Epoch milliseconds of a time that was sent as a number, as a string of digits, or in ISO 8601 (UTC if it has no
 * zone); NaN for any other value.
 */
export function timeMs(sent: unknown): number {
  const number = idDigits(sent);
  if (typeof sent === 'number' || number !== undefined) return Number(number ?? sent);
  const [, local, zone] = typeof sent === 'string' ? (ISO_TIME.exec(sent) ?? []) : [];
  return local === undefined ? Number.NaN : Date.parse(`${local.replace(' ', 'T')}${zone ?? 'Z'}`);
}

const ISO_TIME = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/;

/** The id of a calculation, card, data file or user: the digits of an integer, `-?(0|[1-9]\d*)`, at most 64 of them. */
export type Id = string;

/** Compares two ids as integers: negative if `a` is lower than `b`, 0 if they are equal. */
export function compareIds(a: Id, b: Id): number {
  // Without a sign, the longer string is the higher id. At equal length, the order of the strings decides.
  if (!a.startsWith('-') && !b.startsWith('-')) return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
  const left = BigInt(a);
  const right = BigInt(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

/** Maximum digits of an id. Real ids have at most 20 digits; much longer ids would cost time and memory. */
export const MAX_ID_DIGITS = 64;

const DIGITS = new RegExp(`^-?\\d{1,${MAX_ID_DIGITS}}$`);

/** The digits of an id as received in JSON (number, bigint, or string of digits); undefined if it is not an id. */
export function idDigits(value: unknown): Id | undefined {
  if (typeof value === 'bigint') return idDigits(String(value));
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (typeof value !== 'string' || !DIGITS.test(value)) return undefined;
  return String(BigInt(value));
}

/** Schema of an id that is sent or received. Accepts all of its forms, and returns its digits. */
export const idSchema = z.pipe(
  z.custom<number | bigint | string>((value) => idDigits(value) !== undefined, {
    error: `an integer of at most ${MAX_ID_DIGITS} digits (as text or a bigint beyond 2^53)`,
  }),
  z.transform((value) => idDigits(value) ?? ''),
);
