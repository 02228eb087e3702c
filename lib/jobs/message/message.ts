import { createHash } from 'node:crypto';
import { canonicalJson } from '../../json/canonical-json.ts';
import { faultsOf, preview } from '../../json/faults.ts';
import { type Allow, allowFault } from '../allow.ts';
import { checksFor, type Job } from '../types/message-schemas.ts';
import { isObject, jobId } from './fields.ts';
import { readMessageJson } from './message-json.ts';

export type {
  DataFilesJob,
  Job,
  RunFunctionJob,
  ScoreJob,
  SnapshotJob,
  UpdateFormulaJob,
} from '../types/message-schemas.ts';

/** A message as it was understood. `contentHash`: SHA-256 (hex) of the canonical message without its id. */
export type ParsedMessage =
  | { readonly kind: 'job'; readonly job: Job; readonly contentHash: string }
  | RefusedMessage;

/** Why a message cannot become a job, every fault at once; `id` is the one that it names, if that is an id at all. */
export type RefusedMessage = {
  readonly kind: 'refused';
  readonly faults: readonly string[];
  readonly id?: string;
};

export type MessageOptions = {
  /** The queue's id of the message: the id of a `run-function` job whose message names none. */
  readonly messageId: string;
  readonly allow: Allow;
};

/** The job that a message asks for: its text is checked, its id and defaults are filled in. */
export function parseMessage(text: string, { messageId, allow }: MessageOptions): ParsedMessage {
  const read = readMessageJson(text);
  if (read.kind === 'fault') return { kind: 'refused', faults: [read.fault] };
  const message = read.value;
  if (!isObject(message))
    return { kind: 'refused', faults: [`message: expected an object, got ${kindOf(message)}`] };
  const named = jobId.safeParse(message['id']);
  const id = named.success ? { id: named.data } : {};
  const checked = checkMessage(message);
  if (checked.kind === 'faults') return { kind: 'refused', faults: checked.faults, ...id };
  const contentHash = hashOf(message);
  const filledIn = message['type'] === 'run-function' ? messageId : contentHash;
  const job = { ...checked.message, id: id.id ?? filledIn } as Job;
  const fault = allowFault(allow, job);
  return fault === undefined
    ? { kind: 'job', job, contentHash }
    : { kind: 'refused', faults: [fault], ...id };
}

/** What came in place of an object, without its content: a bare text may be one to score. */
const kindOf = (value: unknown) => (typeof value === 'string' ? 'a text' : preview(value));

type Checked =
  | { readonly kind: 'message'; readonly message: object }
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

function checkMessage(message: Readonly<Record<string, unknown>>): Checked {
  const { schema, rules } = checksFor(message);
  const { data, error } = schema.safeParse(message);
  const texts = textsIn(message['texts']);
  const hide = (text: string) => (texts.has(text) ? `${text.length} characters, not shown` : text);
  const faults = [
    ...(error === undefined ? [] : faultsOf(error, message, { hide })),
    ...rules
      .filter(({ holds }) => !holds(message))
      .map(({ at, expected }) => `${at}: expected ${expected}, got ${preview(message[at], hide)}`),
  ];
  return data === undefined || faults.length > 0
    ? { kind: 'faults', faults }
    : { kind: 'message', message: data };
}

/** The texts to score, wherever below `texts` they stand by mistake; ids are no texts. */
function textsIn(texts: unknown): ReadonlySet<string> {
  const found = (Array.isArray(texts) ? texts : [texts]).flatMap((each) =>
    isObject(each) ? Object.entries(each).flatMap(([name, value]) => (name === 'id' ? [] : [value])) : [each],
  );
  return new Set(found.filter((each) => typeof each === 'string' && each.trim() !== ''));
}

function hashOf({ id: _, ...content }: Readonly<Record<string, unknown>>): string {
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
