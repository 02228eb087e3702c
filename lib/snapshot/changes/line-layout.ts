import {
  CLOSE_OBJECT,
  COMMA,
  OPEN_OBJECT,
  skipName,
  skipSpace,
  skipValue,
  unexpected,
} from '../page/json-bytes.ts';
import type { Line } from './line-reader.ts';

/** Where the values of a line's top-level members are in its bytes, by position: up to, not including, their ends. */
export type ValuePlaces = { readonly starts: number[]; readonly ends: number[] };

export const noPlaces = (): ValuePlaces => ({ starts: [], ends: [] });

/** A name that was found after others, and those that were found after it. */
type Branch<Layout> = {
  /** All bytes between the value before it, or the beginning of the line, and its own value. */
  readonly head: Buffer;
  readonly before: Branch<Layout> | undefined;
  readonly next: Branch<Layout>[];
  /** What is said about a line that ends with this member. */
  layout: Layout | undefined;
};

/** Members of a record are values within one object. */
const DEPTH = 1;
/** Of records whose names are data there would be more and more. */
const MOST_BRANCHES = 1_000;

/**
 * Makes a function that finds the values of a line that is a JSON object, and returns what `describe` says about its
 * names. The line is not parsed, but all of it is validated. Records of one platform have few layouts: names that came
 * before are only compared, and `describe` is asked once for all lines with the same names in the same order. The
 * function throws `SyntaxError`, also for an object without members.
 */
export function createLayoutReader<Layout>(
  describe: (names: readonly string[]) => Layout,
): (line: Line, into: ValuePlaces) => Layout {
  let root: Branch<Layout>[] = [];
  let branches = 0;

  function grow(line: Line, at: number, before: Branch<Layout> | undefined): Branch<Layout> {
    const value = afterName(line, at, before === undefined ? OPEN_OBJECT : COMMA);
    const head = Buffer.from(line.json.bytes.subarray(at, value));
    const branch: Branch<Layout> = { head, before, next: [], layout: undefined };
    (before?.next ?? root).push(branch);
    branches += 1;
    return branch;
  }

  return (line, into) => {
    const { json } = line;
    if (branches > MOST_BRANCHES) [root, branches] = [[], 0];
    let last: Branch<Layout> | undefined;
    let at = line.start;
    for (let count = 0; ; count += 1) {
      const branch: Branch<Layout> = known(last?.next ?? root, json.bytes, at) ?? grow(line, at, last);
      const value = at + branch.head.length;
      at = skipValue(json, value, DEPTH);
      into.starts[count] = value;
      into.ends[count] = at;
      last = branch;
      if (json.bytes[at] === COMMA || !isEnd(line, at)) continue;
      branch.layout ??= describe(namesTo(branch));
      return branch.layout;
    }
  };
}

function known<Layout>(
  branches: readonly Branch<Layout>[],
  bytes: Buffer,
  at: number,
): Branch<Layout> | undefined {
  for (let index = 0; index < branches.length; index += 1) {
    const branch = branches[index];
    if (branch !== undefined && isAt(branch.head, bytes, at)) return branch;
  }
  return undefined;
}

function isAt(wanted: Buffer, bytes: Buffer, at: number): boolean {
  for (let index = 0; index < wanted.length; index += 1)
    if (bytes[at + index] !== wanted[index]) return false;
  return true;
}

/** The start of the value of the member that begins after `opening`. */
function afterName({ json }: Line, at: number, opening: number): number {
  const mark = skipSpace(json.bytes, at);
  if (json.bytes[mark] !== opening) throw unexpected(json.bytes, mark);
  return skipName(json, skipSpace(json.bytes, mark + 1));
}

/** True if the object ends after this value, and the line with it. */
function isEnd({ json: { bytes }, end }: Line, at: number): boolean {
  const close = skipSpace(bytes, at);
  if (bytes[close] !== CLOSE_OBJECT) return false;
  // Not `!==`: the line feed after the line is space too.
  if (close >= end || skipSpace(bytes, close + 1) < end) throw unexpected(bytes, close + 1);
  return true;
}

function namesTo<Layout>(last: Branch<Layout>): readonly string[] {
  const names: string[] = [];
  for (let branch: Branch<Layout> | undefined = last; branch !== undefined; branch = branch.before) {
    const { head } = branch;
    const text = head.toString('utf8', head.indexOf(QUOTE), head.lastIndexOf(QUOTE) + 1);
    names.push(JSON.parse(text) as string);
  }
  return names.reverse();
}

const QUOTE = 0x22;
