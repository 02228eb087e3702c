import { printJson } from '../../json/json.ts';
import type { Allow } from '../allow.ts';
import { type ParsedMessage, parseMessage } from './message.ts';
import { readMessageJson } from './message-json.ts';

/** A job as text, or why there is none; `line`: where it is in its file. */
export type JobLine =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly faults: readonly string[] };

/** All lines of a JOBS.ndjson as messages to be sent, or everything that is wrong with them. */
export type JobLines =
  /** Each message as compact JSON, in the order of the lines. */
  | { readonly kind: 'messages'; readonly messages: readonly string[] }
  /** Each begins with `line N: `. Of more than 50, the last text says how many others there are. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/**
 * Reads jobs, one per line; blank lines are ignored. Every line is checked before any may be sent: an id that is used
 * twice is a fault, even with the same content. A `run-function` or `update-formula` line without an id has none to
 * compare, since the queue gives it one.
 */
export const readJobLines = (
  lines: AsyncIterable<string>,
  options: { readonly allow?: Allow } = {},
): Promise<JobLines> => checkJobLines(numbered(lines), options);

async function* numbered(lines: AsyncIterable<string>): AsyncGenerator<JobLine> {
  let line = 0;
  for await (const text of lines) {
    line += 1;
    yield { line, text };
  }
}

/** The same for jobs that come with their lines. */
export async function checkJobLines(
  lines: AsyncIterable<JobLine>,
  { allow = {} }: { readonly allow?: Allow } = {},
): Promise<JobLines> {
  const messages: string[] = [];
  const faults: string[] = [];
  const seen: Seen = new Map();
  let count = 0;
  for await (const given of lines) {
    const { line: number } = given;
    const line = 'text' in given ? given.text.replace(/^\uFEFF/, '').trim() : undefined;
    if (line === '') continue;
    const read: Read =
      'text' in given ? readLine(line ?? '', allow) : { kind: 'refused', faults: given.faults };
    const found = read.kind === 'refused' ? read.faults : repetitions(read, number, seen);
    for (const fault of found.slice(0, MOST_FAULTS - faults.length)) faults.push(`line ${number}: ${fault}`);
    count += found.length;
    if (read.kind === 'job' && count === 0) messages.push(read.text);
  }
  if (count === 0) return { kind: 'messages', messages };
  const others = count - faults.length;
  return { kind: 'faults', faults: others === 0 ? faults : [...faults, `and ${others} more`] };
}

/** A file of other data has a fault in each line. */
const MOST_FAULTS = 50;

type Read = Exclude<ParsedMessage, { kind: 'job' }> | (JobMessage & { readonly text: string });
type JobMessage = Extract<ParsedMessage, { kind: 'job' }>;

/** Stands for an id that the queue has yet to give: no message can have it. */
const NO_ID_YET = '';

function readLine(line: string, allow: Allow): Read {
  const json = readMessageJson(line);
  if (json.kind === 'fault') return { kind: 'refused', faults: [json.fault] };
  const text = printJson(json.value);
  const parsed = parseMessage(text, { messageId: NO_ID_YET, allow });
  return parsed.kind === 'job' ? { ...parsed, text } : parsed;
}

/** The line on which each id came first, and the content it had there. */
type Seen = Map<string, { readonly line: number; readonly contentHash: string }>;

function repetitions(
  { job: { id }, contentHash, isNamed }: JobMessage,
  line: number,
  seen: Seen,
): readonly string[] {
  if (!isNamed) return [];
  const before = seen.get(id);
  if (before === undefined) {
    seen.set(id, { line, contentHash });
    return [];
  }
  const content = before.contentHash === contentHash ? 'the same' : 'different';
  return [
    `id: expected an id that no other line has, got ${id}, which line ${before.line} has with ${content} content`,
  ];
}
