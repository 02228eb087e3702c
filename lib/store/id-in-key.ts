/**
 * The segment of a key that stands for an id from outside: 1 to 128 of `A-Z a-z 0-9 . _ : -`. `idOfSegment` gives the id
 * back. Lower-case letters, digits, `-`, and `.` and `_` inside an id stay as they are. Segments of different ids differ
 * even where case is ignored, never begin with `.` or `_`, which SQL engines skip, never end with `.`, and have at most
 * 240 characters: with a suffix, a file name.
 *
 * | in the segment | in the id |
 * |---|---|
 * | `!a` to `!z` | a capital |
 * | `!!order-17!` | `ORDER-17`: from four capitals or colons on, with only digits, `.` and `-` between; `_` is a colon |
 * | `!-` | a colon |
 * | `!.`, `!_` | `.` and `_` at the beginning |
 * | `!0` | nothing, after `.` at the end and before a name that Windows reserves, such as `con` |
 *
 * `!` is among the characters that S3 calls safe, is allowed in file names everywhere and unescaped in the path of a URL,
 * and occurs in no id. `%` would be decoded along the way, `=` makes a folder a partition, and `~` is one to avoid in S3.
 */
export const keySegment = (id: string): string =>
  id
    .replace(SHIFTED_RUN, shifted)
    .replace(/^[._]/, '!$&')
    .replace(/\.$/, '.!0')
    .replace(RESERVED_BY_WINDOWS, '!0$&');

/** The id that a segment stands for; undefined if `keySegment` gives no such segment. */
export function idOfSegment(segment: string): string | undefined {
  // From left to right: what looks like `!0` may be the end of a run and a digit.
  const id = segment.replace(
    /!!([^!]*)!|!([a-z])|!-|!([._])|(!0)/g,
    (_, run?: string, capital?: string, start?: string, nothing?: string) =>
      nothing === undefined ? (run?.replaceAll('_', ':') ?? capital ?? start ?? ':').toUpperCase() : '',
  );
  return !id.includes('!') && keySegment(id) === segment ? id : undefined;
}

const SHIFTED_RUN = /[A-Z:](?:[A-Z0-9.:-]*[A-Z:])?/g;
const RESERVED_BY_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/;

/** From so many on, one escape of all capitals and colons is shorter than one of each. */
const FEWEST_IN_RUN = 4;

function shifted(run: string): string {
  const lower = run.toLowerCase();
  return (run.match(/[A-Z:]/g) ?? []).length >= FEWEST_IN_RUN
    ? `!!${lower.replaceAll(':', '_')}!`
    : run.replace(/[A-Z:]/g, (one) => `!${one === ':' ? '-' : one.toLowerCase()}`);
}
