import { printExact } from '../../base/json/index.ts';
import { type Change, fieldsOf } from '../../snapshot/changes/side-by-side.ts';
import { storedChanges } from '../../snapshot/changes/stored-changes.ts';
import { type Place, sourceOf } from '../../snapshot/keys.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { StoredObjectError, unlessDamaged } from '../../store/index.ts';
import { type ChangeFacts, type ChangesFacts, MAX_LISTED } from '../facts.ts';
import { type Reading, shownText } from './values.ts';

type ChangesToRead = Reading & { readonly place: Place; readonly manifest: Manifest };

/** The most characters of a value, of all changes of a place, and the most fields of a record. */
const MAX_VALUE_LENGTH = 2_000;
const MAX_CHARACTERS = 1_000_000;
const MAX_FIELDS = 50;

/** What changed in the last published run; undefined if it was compared with none, or if the changes have expired. */
export async function readChanges(options: ChangesToRead): Promise<ChangesFacts | undefined> {
  const { store, place, manifest, addFault, signal } = options;
  if (manifest.changes === null) return undefined;
  const { key: _, ...counts } = manifest.changes;
  const listed: ChangeFacts[] = [];
  const facts = { ...counts, listed };
  if (counts.added + counts.removed + counts.changed === 0) return facts;
  try {
    const changes = await storedChanges({ store, changes: manifest.changes, signal });
    if (changes === undefined) {
      addFault(`${place}: what changed in run ${manifest.run} has expired`);
      return undefined;
    }
    let characters = 0;
    for await (const change of changes) {
      signal.throwIfAborted();
      const shown = shownChange(sourceOf(place), change);
      characters += JSON.stringify(shown).length;
      if (listed.length >= MAX_LISTED || characters > MAX_CHARACTERS) break;
      listed.push(shown);
    }
  } catch (error) {
    const left = `${listed.length} of its changes are in the report`;
    unlessDamaged((fault) => addFault(`${place}: ${fault}; ${left}`))(error);
  }
  return facts;
}

/** How much of a change is shown. */
type ChangeLimits = { readonly fields: number; readonly value: number };

/**
 * A change with the label of its record, and of a record that changed its fields with their values as JSON. Throws
 * `StoredObjectError` if a line is not a change of a record.
 */
export function shownChange(
  source: Source,
  change: Change,
  { fields: most, value: longest }: ChangeLimits = { fields: MAX_FIELDS, value: MAX_VALUE_LENGTH },
): ChangeFacts {
  try {
    const before = 'before' in change ? fieldsOf(change.before) : undefined;
    const after = 'after' in change ? fieldsOf(change.after) : undefined;
    const label = (after ?? before)?.get(sourceDefinitions[source].records.label);
    const names = change.change === 'changed' ? change.fields.slice(0, most) : [];
    const valueIn = (fields: ReadonlyMap<string, unknown> | undefined, name: string): string | null =>
      fields?.has(name) ? shownText(printExact(fields.get(name)), longest) : null;
    return {
      change: change.change,
      key: shownText(change.key),
      label: typeof label === 'string' ? shownText(label) : '',
      fields: names.map((name) => ({
        name: shownText(name),
        before: valueIn(before, name),
        after: valueIn(after, name),
      })),
    };
  } catch (cause) {
    throw new StoredObjectError('invalid', 'expected a change, got something else', { cause });
  }
}
