import { shortened } from './faults.ts';
import { shownJson } from './shown-json.ts';

/** Less than the longest message of a terminal. */
const LONGEST_LINE = 10_000;
const LONGEST_MSG = 500;

/**
 * A line of the log, safe to show and of at most 15,000 characters: of one longer than 10,000 its level, time and message,
 * and in `cut` the beginning of all of it. Its facts come from outside, so they could be of any length.
 */
export function boundedLine(line: string): string {
  const shown = shownJson(line);
  if (shown.length <= LONGEST_LINE) return shown;
  const { level, timestamp, msg } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const cut = shortened(shown, LONGEST_LINE / 2);
  return shownJson(
    JSON.stringify({ level, timestamp, msg: shortened(String(msg), LONGEST_MSG), length: line.length, cut }),
  );
}
