import { shortened } from './faults.ts';

/** Escaping what could move a cursor makes a line at most six times as long; a terminal's message has room for that. */
const LONGEST_LINE = 10_000;
const LONGEST_MSG = 500;

/**
 * A line of the log of at most about 10,000 characters: of a longer one, its level, time and message, and in `cut` the
 * beginning of everything. Facts in it come from outside, so it could be of any length.
 */
export function boundedLine(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  const { level, time, msg } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const cut = shortened(line, LONGEST_LINE / 2);
  return JSON.stringify({ level, time, msg: shortened(String(msg), LONGEST_MSG), length: line.length, cut });
}
