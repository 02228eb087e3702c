import type { Readable } from 'node:stream';

/** Longer lines are split into pieces of this many characters, so that no output fills the memory. */
export const LONGEST_LINE = 262_144;

/** Passes on each line of a stream as it arrives, and what is left at its end. */
export async function forwardLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
    for (; rest.length > LONGEST_LINE; rest = rest.slice(LONGEST_LINE)) onLine(rest.slice(0, LONGEST_LINE));
  }
  if (rest !== '') onLine(rest);
}
