import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { checkedBy, faultsOf, own, preview, utcTime } from '../../base/index.ts';
import { canonicalJson, isDeeperThan, JsonLimitError, parseJson } from '../../base/json/index.ts';
import { MAX_MESSAGE_BYTES, sentBytes } from '../queue/queue.ts';

/*
 * Fields that several messages share. A schema's error message says what was expected; `faultsOf` adds what was received.
 */

/** A job's id. It identifies a row of the ledger and an object in the store. */
export const jobId = z
  .string({ error: 'text' })
  .check(z.regex(/^[A-Za-z0-9._:-]{1,128}$/, { error: '1 to 128 characters from A-Z a-z 0-9 . _ : -' }));

/** The fields that messages of all types have. */
export const common = {
  version: z.literal(1, { error: '1, the version of the message format' }),
  id: z.optional(jobId),
  notBefore: z.optional(utcTime),
  /** Calls of jobs with `high` priority leave before calls of other jobs. */
  priority: z.optional(z.enum(['high', 'normal'], { error: 'high or normal' })),
} as const;

/** The fields that do not count as content, since they only identify a job or say when to do it. */
const NOT_CONTENT: ReadonlySet<string> = new Set(['id', 'notBefore', 'priority']);

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is UncheckedMessage =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON object of a message, before it is checked. */
export type UncheckedMessage = Readonly<Record<string, unknown>>;

/** Parses a JSON object; undefined if the string is anything else. */
export function parseObject(text: string): UncheckedMessage | undefined {
  try {
    const value = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A rule about several fields, reported at `at`. It is checked on the message as received, since zod skips
 * such rules after other faults.
 */
type FieldRule = {
  readonly at: string;
  /** What is expected there. `nameOf` returns the name of a field as the user wrote it, such as an option. */
  readonly expected: string | ((nameOf: (field: string) => string) => string);
  readonly holds: (message: UncheckedMessage) => boolean;
};

/** The rules that two fields are given together, or that both are missing. */
export const bothOrNeither = (a: string, b: string): readonly FieldRule[] => [
  {
    at: a,
    expected: (nameOf) => `a value, since ${nameOf(b)} is given`,
    holds: (message) => message[a] !== undefined || message[b] === undefined,
  },
  {
    at: b,
    expected: (nameOf) => `a value, since ${nameOf(a)} is given`,
    holds: (message) => message[b] !== undefined || message[a] === undefined,
  },
];

/** How a message of one type is checked. `defaultId`: where the id comes from if the message has none. */
export type MessageChecks<Message, Input = unknown> = {
  readonly schema: z.ZodMiniType<Message, Input>;
  readonly rules?: readonly FieldRule[];
  /** `message-id`: the queue's id of the message. `content-hash`: the hash of its content. */
  readonly defaultId: 'message-id' | 'content-hash';
  /** Converts a message that is written in another form to the form that is checked. */
  readonly expand?: (message: UncheckedMessage) => ExpandedMessage;
};

/** A message in the form that is checked, and the faults that were found while it was converted. */
export type ExpandedMessage = { readonly message: UncheckedMessage; readonly faults: readonly string[] };

type CheckedMessage<Message> =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/** The names of fields as the user wrote them, such as options of a command. */
type FieldNames = Readonly<Partial<Record<string, string>>>;

/** Checks a message. Returns all of its faults, each with its field's name in `names`. */
export function checkMessage<Message>(
  { schema, rules = [] }: Pick<MessageChecks<Message>, 'schema' | 'rules'>,
  message: UncheckedMessage,
  names: FieldNames = {},
): CheckedMessage<Message> {
  const nameOf = (field: string) => own(names, field) ?? field;
  // A repeated option has no entry numbers, so only its name is given.
  const describePath = ([first = '', ...rest]: readonly PropertyKey[]) =>
    own(names, String(first)) ?? [first, ...rest].join('.');
  const texts = textsIn(message['texts']);
  const hide = (text: string) => (texts.has(text) ? `${text.length} characters, not shown` : text);
  const { data, error } = checkedBy(schema, message);
  const faults = [
    ...(error === undefined ? [] : faultsOf(error, message, { describePath, hide })),
    ...rules
      .filter(({ holds }) => !holds(message))
      .map(({ at, expected }) => {
        const words = typeof expected === 'string' ? expected : expected(nameOf);
        return `${nameOf(at)}: expected ${words}, got ${preview(message[at], hide)}`;
      }),
  ];
  return data === undefined || faults.length > 0
    ? { kind: 'faults', faults }
    : { kind: 'message', message: data };
}

/** The texts to score, so that no fault quotes them, even if `texts` has the wrong form. Ids are not included. */
function textsIn(texts: unknown): ReadonlySet<string> {
  const found = (Array.isArray(texts) ? texts : [texts]).flatMap((each) =>
    isObject(each) ? Object.entries(each).flatMap(([name, value]) => (name === 'id' ? [] : [value])) : [each],
  );
  return new Set(found.filter((each) => typeof each === 'string' && each.trim() !== ''));
}

/** A job: its checked message, with an id. */
export type JobFrom<Message> = Message & { readonly id: string };

/**
 * A job read from its message. `contentHash`: SHA-256 (hex) of the canonical message without `NOT_CONTENT`.
 * `hasExplicitId`: false if the id is the queue's id of the message. A copy would get another id, so the id must be
 * written into the message before anything else is done.
 */
export type ReadJob<Job> = {
  readonly kind: 'job';
  readonly job: Job;
  readonly contentHash: string;
  readonly hasExplicitId: boolean;
};

/** A message that is refused. `id`: the id in the message, if it is valid. */
export type RefusedMessage = {
  readonly kind: 'refused';
  readonly faults: readonly string[];
  readonly id?: string;
};

/** Checks a message, and returns its job, or all faults of the message. */
export function readJob<Message extends { readonly id?: string | undefined }>(
  checks: MessageChecks<Message>,
  message: UncheckedMessage,
  /** `messageId`: the queue's id of the message. `faults`: faults that were already found. Default: none. */
  { messageId, faults = [] }: { readonly messageId: string; readonly faults?: readonly string[] },
): ReadJob<JobFrom<Message>> | RefusedMessage {
  const checked = checkMessage(checks, message);
  if (checked.kind === 'faults') return refused(message, [...faults, ...checked.faults]);
  if (faults.length > 0) return refused(message, faults);
  const contentHash = hashOf(message);
  const isNamedByQueue = checks.defaultId === 'message-id';
  const id = checked.message.id ?? (isNamedByQueue ? messageId : contentHash);
  return {
    kind: 'job',
    job: { ...checked.message, id },
    contentHash,
    hasExplicitId: checked.message.id !== undefined || !isNamedByQueue,
  };
}

/** The refusal of a message, with its id if that is valid. */
export function refused(message: UncheckedMessage, faults: readonly string[]): RefusedMessage {
  const { data: id } = jobId.safeParse(message['id']);
  return id === undefined ? { kind: 'refused', faults } : { kind: 'refused', faults, id };
}

function hashOf(message: UncheckedMessage): string {
  const content = Object.fromEntries(Object.entries(message).filter(([name]) => !NOT_CONTENT.has(name)));
  return hash('sha256', canonicalJson(content));
}

/** Maximum depth of nested lists and objects, since later steps are recursive. */
const MAX_DEPTH = 100;

type MessageJson =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'fault'; readonly fault: string };

const fault = (text: string): MessageJson => ({ kind: 'fault', fault: `message: ${text}` });

/** Parses the JSON of a message. A fault never quotes it, since it may contain a text to score. */
export function readMessageJson(text: string): MessageJson {
  const bytes = sentBytes(text);
  if (bytes > MAX_MESSAGE_BYTES)
    return fault(`expected at most ${MAX_MESSAGE_BYTES} bytes of UTF-8, got ${bytes}`);
  if (isDeeperThan(text, MAX_DEPTH))
    return fault(`expected at most ${MAX_DEPTH} levels of nested lists and objects, got more`);
  try {
    return { kind: 'json', value: parseJson(text) };
  } catch (error) {
    if (error instanceof JsonLimitError) return fault(error.message);
    return fault(`expected JSON, got ${text.length} characters that are invalid at ${invalidAt(text)}`);
  }
}

/** The position at which a string stops being JSON. V8 reports the position of only some faults. */
function invalidAt(text: string): string {
  let valid = 0;
  let invalid = text.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isJsonPrefix(text.slice(0, middle))) valid = middle;
    else invalid = middle;
  }
  const lines = text.slice(0, invalid).split('\n');
  const column = `column ${lines.at(-1)?.length || 1}`;
  return lines.length === 1 ? column : `line ${lines.length}, ${column}`;
}

function isJsonPrefix(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch (error) {
    const [, position] = /at position (\d+)/.exec(String(error)) ?? [];
    return position === undefined
      ? String(error).endsWith('end of JSON input')
      : Number(position) >= text.length;
  }
}

/** Adds this id to the body of a message. All other bytes stay unchanged. */
export const withId = (body: string, id: string): string => body.replace('{', `{"id":${JSON.stringify(id)},`);
