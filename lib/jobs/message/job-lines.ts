import { printJson } from '../../base/index.ts';
import type { Allow } from '../allow.ts';
import { compareIds, type IdComparison } from '../texts/rows/repeated-ids.ts';
import { type ParsedMessage, parseValue } from './message.ts';
import { readMessageJson } from './message-json.ts';

/**
 * A job as text, or why there is none; `line`: where it is in its file. `isUnique`: its id was made so that no other line
 * has it.
 */
export type JobLine =
  | { readonly line: number; readonly text: string; readonly isUnique?: boolean }
  | { readonly line: number; readonly faults: readonly string[] };

/**
 * Checks one job after the other, and holds what is wrong with them: an id that is used twice is a fault, even with the
 * same content. A `run-function` or `update-formula` line without an id has none to compare, since the queue gives it one.
 */
export function createLineCheck(allow: Allow) {
  const faults: string[] = [];
  const ids = compareIds();
  let count = 0;
  const add = (line: number, found: readonly string[]) => {
    for (const fault of found.slice(0, MOST_FAULTS - faults.length)) faults.push(`line ${line}: ${fault}`);
    count += found.length;
  };
  return {
    add,
    /** The message of a line; undefined for a blank one, and for one that has a fault. */
    check(given: JobLine): CheckedLine | undefined {
      const { line: number } = given;
      if ('faults' in given) {
        add(number, given.faults);
        return undefined;
      }
      const line = given.text.replace(/^\uFEFF/, '').trim();
      if (line === '') return undefined;
      const read = readLine(line, allow);
      const found =
        read.kind === 'refused' ? read.faults : given.isUnique ? [] : repetitions(read, number, ids);
      add(number, found);
      return read.kind === 'refused' || found.length > 0 ? undefined : read;
    },
    isFaultless: () => count === 0,
    /** Each begins with `line N: `. Of more than 50, the last text says how many others there are. */
    faults: () => (count === faults.length ? faults : [...faults, `and ${count - faults.length} more`]),
  };
}

/** A file of other data has a fault in each line. */
const MOST_FAULTS = 50;

type JobMessage = Extract<ParsedMessage, { kind: 'job' }>;

/** A message that may be sent, as compact JSON. */
export type CheckedLine = JobMessage & { readonly text: string };

type Read = Exclude<ParsedMessage, { kind: 'job' }> | CheckedLine;

/** Stands for an id that the queue has yet to give: no message can have it. */
const NO_ID_YET = '';

function readLine(line: string, allow: Allow): Read {
  const json = readMessageJson(line);
  if (json.kind === 'fault') return { kind: 'refused', faults: [json.fault] };
  const text = printJson(json.value);
  const parsed = parseValue(json.value, { messageId: NO_ID_YET, allow });
  return parsed.kind === 'job' ? { ...parsed, text } : parsed;
}

function repetitions(
  { job: { id }, isNamed }: JobMessage,
  line: number,
  ids: IdComparison,
): readonly string[] {
  const before = isNamed ? ids.add(id, line) : undefined;
  return before === undefined
    ? []
    : [`id: expected an id that no other line has, got ${id}, which line ${before} has`];
}
