import { idDigits } from '../platform/id.ts';
import { collected, readText } from './options.ts';
import type { Terminal } from './terminal.ts';

/** The options that declare ids as expected to be missing. */
export const EXPECT_MISSING = [
  [
    '--expect-missing <id>',
    'an id that may be missing: the exit code is not 3 because of it; may be repeated',
    (text: string, before?: readonly string[]) => collected(text, before),
  ],
  ['--expect-missing-from <file>', 'a file with one such id a line; - reads standard input'],
] as const;

type ExpectFlags = { readonly expectMissing?: readonly string[]; readonly expectMissingFrom?: string };

/** Says whether an id was declared as expected to be missing. A file may have no ids. */
export async function readExpected(
  { expectMissing = [], expectMissingFrom }: ExpectFlags,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<(id: string) => boolean> {
  const lines = expectMissingFrom === undefined ? '' : await readText(expectMissingFrom, terminal);
  const ids = [...expectMissing, ...lines.split('\n').map((line) => line.trim())];
  const expected = new Set(ids.map(sameId));
  return (id) => expected.has(sameId(id));
}

/** Ids as they are compared: integers by their digits, others without regard to letter case. */
const sameId = (id: string): string => idDigits(id) ?? id.toLowerCase();
