import { InvalidArgumentError } from 'commander';
import type { Place } from '../../snapshot/keys.ts';
import { parsePlace } from '../../snapshot/keys.ts';
import { sources } from '../../snapshot/sources/sources.ts';

/** A run's name, such as `20261121T091500Z-3fa9c1`, as an argument or an option. */
export function runArgument(text: string): string {
  if (/^\d{8}T\d{6}Z-[0-9a-f]{6}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `Expected a run such as 20261121T091500Z-3fa9c1, got ${JSON.stringify(text)}.`,
  );
}

/** The same, or `last`. */
export const runOrLast = (text: string): string => (text === 'last' ? text : runArgument(text));

/** `SOURCE` or `SOURCE.NAME` as an argument. */
export function placeArgument(text: string): Place {
  const place = parsePlace(text);
  if (place !== undefined) return place;
  const expected = `one of ${sources.join(', ')}, or SOURCE.NAME`;
  throw new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(text)}.`);
}

/** An argument that names a place, or nothing for all of them, which `all` says in words. */
export const placeOf = (all: string) =>
  ['[source]', `one of ${sources.join(', ')}, or SOURCE.NAME (default: ${all})`, placeArgument] as const;
