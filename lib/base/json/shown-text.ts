import { stripVTControlCharacters } from 'node:util';
import { shortened } from './faults.ts';

/** One line of somebody else's text, safe to show: of at most `most` characters, without terminal control characters. */
export function shownText(given: string, most: number): string {
  const text = shortened(given, most);
  // What is left of a sequence, and every other control character, could still move the cursor.
  return stripVTControlCharacters(text).replaceAll(/\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, ' ');
}
