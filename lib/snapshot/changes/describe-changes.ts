import { shortened } from '../../base/index.ts';
import { printExact } from '../../base/json/index.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { type Change, fieldsOf } from './side-by-side.ts';

/** The number of characters shown of a value. */
const SHOWN = 60;
/** The number of equal characters shown before the first that differs. */
const LEAD = 12;
const MAX_FIELDS = 100;
const MAX_KEY_LENGTH = 200;

/** Changes in words, a line a record and a field that differs. The platform's text is unchanged: not safe for a terminal. */
export function describeChanges(source: Source, changes: readonly Change[]): readonly string[] {
  return changes.flatMap((change) => {
    const record = fieldsOf('after' in change ? change.after : change.before);
    const label = record.get(sourceDefinitions[source].records.label);
    const name = typeof label === 'string' ? `${shorten(label)} ` : '';
    return [
      `${change.change} ${name}(${shortened(change.key, MAX_KEY_LENGTH)})`,
      ...fieldLines(source, change),
    ];
  });
}

function fieldLines(source: Source, change: Change): readonly string[] {
  if (change.change !== 'changed') return [];
  const [before, after] = [fieldsOf(change.before), fieldsOf(change.after)];
  const lines = change.fields.slice(0, MAX_FIELDS).map((name) => {
    const isTime = `${name}_at` in sourceDefinitions[source].columns;
    const [old, now] = shortenPair(printField(before, name, isTime), printField(after, name, isTime));
    return `  ${shorten(name)}: ${old} → ${now}`;
  });
  const others = change.fields.length - lines.length;
  return others === 0 ? lines : [...lines, `  and ${others} more fields`];
}

/** Epoch milliseconds as the date that they are. */
function printField(fields: ReadonlyMap<string, unknown>, name: string, isTime: boolean): string {
  if (!fields.has(name)) return '(absent)';
  const printed = printExact(fields.get(name));
  const date = new Date(isTime && /^-?\d+$/.test(printed) ? Number(printed) : Number.NaN);
  return Number.isNaN(date.getTime()) ? printed : date.toISOString();
}

/** Both texts, from shortly before the point where they differ. */
function shortenPair(before: string, after: string): readonly [string, string] {
  if (isShort(before) && isShort(after)) return [before, after];
  let differs = 0;
  while (differs < before.length && before[differs] === after[differs]) differs += 1;
  if (isFirstHalf(before.charCodeAt(differs - 1))) differs -= 1;
  const lead = [...before.slice(Math.max(0, differs - 2 * LEAD), differs)].slice(-LEAD).join('');
  const start = differs - lead.length;
  const mark = start === 0 ? '' : '…';
  return [`${mark}${shorten(before.slice(start))}`, `${mark}${shorten(after.slice(start))}`];
}

const isFirstHalf = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

/** A character has one or two units; of a text of any length, only so many are looked at. */
const firstOf = (text: string): readonly string[] => [...text.slice(0, 2 * (SHOWN + 1))];

const isShort = (text: string): boolean => text.length <= 2 * SHOWN && [...text].length <= SHOWN;

const shorten = (text: string): string =>
  isShort(text)
    ? text
    : `${firstOf(text)
        .slice(0, SHOWN - 1)
        .join('')}…`;
