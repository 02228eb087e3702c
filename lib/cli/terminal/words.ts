/** `20,000`. */
export const number = (value: number): string => value.toLocaleString('en');

/** `1 row`, `20,000 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** `and 12 more` of what is listed, with what it is; nothing if all is. */
export const andMore = (left: number, what = ''): readonly string[] =>
  left > 0 ? [`and ${number(left)} more${what}`] : [];

/** Says that there is more than `--limit` lets a command list; nothing if there is not. */
export const notListed = (left: number, noun: string): readonly string[] =>
  left > 0 ? [`${left} earlier ${left === 1 ? noun : `${noun}s`} not listed; use --limit to list more`] : [];

/** `4.0 kB`, `2.1 MB`. */
export const size = (bytes: number): string =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** A time that something takes, rounded up: `90 s`, `12 min`, `3.5 h`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

/** What `--json` prints. */
export const inJson = (value: unknown): string => JSON.stringify(value, undefined, 2);
