import { printJson } from '../../json/json.ts';
import type { Allow } from '../allow.ts';
import { type ParsedMessage, parseMessage } from './message.ts';
import { readMessageJson } from './message-json.ts';

/** All lines of a JOBS.ndjson as messages to be sent, or everything that is wrong with them. */
export type JobLines =
  /** Each message as compact JSON, in the order of the lines. */
  | { readonly kind: 'messages'; readonly messages: readonly string[] }
  /** Each begins with `line N: `. */
  | { readonly kind: 'faults'; readonly faults: readonly string[] };

/**
 * Reads jobs, one per line; blank lines are ignored. Every line is checked before any may be sent: an id that is used
 * twice is a fault, even with the same content. A `run-function` or `update-formula` line without an id has none to
 * compare, since the queue gives it one.
 */
export async function readJobLines(
  lines: AsyncIterable<string>,
  { allow = {} }: { readonly allow?: Allow } = {},
): Promise<JobLines> {
  const messages: string[] = [];
  const faults: string[] = [];
  const seen: Seen = new Map();
  let number = 0;
  for await (const raw of lines) {
    number += 1;
    const line = raw.replace(/^\uFEFF/, '').trim();
    if (line === '') continue;
    const read = readLine(line, allow);
    const found = read.kind === 'refused' ? read.faults : repetitions(read, number, seen);
    faults.push(...found.map((fault) => `line ${number}: ${fault}`));
    if (read.kind === 'job') messages.push(read.text);
  }
  return faults.length === 0 ? { kind: 'messages', messages } : { kind: 'faults', faults };
}

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
