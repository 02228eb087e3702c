import { isKey } from '../store/key.ts';
import { type Place, sources } from './keys.ts';

/** Reads `SOURCE` or `SOURCE.NAME`; undefined if the text is neither. */
export function parsePlace(text: string): Place | undefined {
  const [source, ...name] = text.split('.');
  const known = sources.find((each) => each === source);
  if (known === undefined || !isKey(text) || text.includes('/')) return undefined;
  if (name.length === 0) return known;
  return name.join('.') === '' ? undefined : `${known}.${name.join('.')}`;
}
