import { printExact } from '../../json/exact-json.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { type Change, fieldsOf } from './change.ts';

/** The number of characters shown of a value. */
const SHOWN = 60;
/** The number of equal characters shown before the first that differs. */
const LEAD = 12;

/**
 * Changes in words: one line a record, and one for each field that differs. The lines contain the platform's text
 * unchanged, line ends included: each must be made safe before it is printed to a terminal.
 */
export function describeChanges(source: Source, changes: readonly Change[]): readonly string[] {
  return changes.flatMap((change) => {
    const record = fieldsOf('after' in change ? change.after : change.before);
    const label = record.get(sourceDefinitions[source].records.label);
    const name = typeof label === 'string' ? `${shorten(label)} ` : '';
    return [`${change.change} ${name}(${change.key})`, ...fieldLines(change)];
  });
}

function fieldLines(change: Change): readonly string[] {
  if (change.change !== 'changed') return [];
  const [before, after] = [fieldsOf(change.before), fieldsOf(change.after)];
  return change.fields.map((name) => {
    const [old, now] = shortenPair(printField(before, name), printField(after, name));
    return `  ${name}: ${old} → ${now}`;
  });
}

const printField = (fields: ReadonlyMap<string, unknown>, name: string): string =>
  fields.has(name) ? printExact(fields.get(name)) : '(absent)';

/** Both texts, from shortly before the point where they differ. */
function shortenPair(before: string, after: string): readonly [string, string] {
  const [old, now] = [[...before], [...after]];
  if (old.length <= SHOWN && now.length <= SHOWN) return [before, after];
  const differs = old.findIndex((character, at) => character !== now[at]);
  const start = Math.max(0, (differs === -1 ? old.length : differs) - LEAD);
  const lead = start === 0 ? '' : '…';
  return [`${lead}${cut(old.slice(start))}`, `${lead}${cut(now.slice(start))}`];
}

const shorten = (text: string): string => cut([...text]);

const cut = (characters: readonly string[]): string =>
  characters.length <= SHOWN ? characters.join('') : `${characters.slice(0, SHOWN - 1).join('')}…`;
