import { InvalidArgumentError } from 'commander';
import { type Place, sources } from '../snapshot/keys.ts';
import { parsePlace } from '../snapshot/parse-place.ts';

/** `SOURCE` or `SOURCE.NAME` as an argument. */
export function placeArgument(text: string): Place {
  const place = parsePlace(text);
  if (place !== undefined) return place;
  const expected = `${sources.join(', ')}, or one of them with .NAME`;
  throw new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(text)}.`);
}
