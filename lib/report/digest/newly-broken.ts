import { ExactNumber } from '../../json/exact-json.ts';
import { type Change, fieldsOf } from '../../snapshot/changes/change.ts';
import { type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';

/**
 * The references of a record that are not valid, and were valid before or were not there: a line with its name, and one
 * for each. Empty if there are none. The lines hold the platform's text as it is.
 */
export function newlyBroken(source: Source, change: Change): readonly string[] {
  if (change.change === 'removed' || (change.change === 'changed' && !change.fields.includes('links')))
    return [];
  const { key, after } = change;
  const broken = invalidLinks(after);
  if (change.change === 'changed') for (const link of invalidLinks(change.before).keys()) broken.delete(link);
  if (broken.size === 0) return [];
  const label = fieldsOf(after).get(sourceDefinitions[source].records.label);
  const lines = [...broken].map(([link, valid]) => `  ${link} is ${valid}`);
  const more = lines.length - MOST_LINKS;
  return [
    `${typeof label === 'string' ? `${label} ` : ''}(${key})`,
    // One that is left out takes as much room as the line that says so.
    ...(more <= 1 ? lines : [...lines.slice(0, MOST_LINKS), `  and ${more} more`]),
  ];
}

const MOST_LINKS = 1;

/** What each link that is not VALID is instead, by what it links to. */
function invalidLinks(line: string): Map<string, string> {
  // Most records have valid links only, and parsing them all would take minutes.
  if (!MAYBE_INVALID.test(line)) return new Map();
  const links = fieldsOf(line).get('links');
  const invalid = (Array.isArray(links) ? links : []).flatMap((link: unknown) => {
    const { resource, valid } = membersOf(link);
    if (typeof valid !== 'string' || valid === 'VALID') return [];
    const { type, id } = membersOf(resource);
    return [[`${textOf(type)} ${textOf(id)}`, valid] as const];
  });
  return new Map(invalid);
}

/** A `valid` with another text, or with one that has escapes. */
const MAYBE_INVALID = /"valid"\s*:\s*"(?!VALID")/;

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !(value instanceof ExactNumber)
    ? (value as Readonly<Record<string, unknown>>)
    : {};

function textOf(value: unknown): string {
  if (value instanceof ExactNumber) return value.source;
  return typeof value === 'string' ? value : '';
}
