import { parseOwnJson } from '../../base/json/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import type { Manifest } from '../manifest.ts';
import { noMembers, type ReadLine, readMembers, valuesByName } from './line-members.ts';
import { readLines } from './line-reader.ts';
import type { Change } from './side-by-side.ts';

type StoredChangesOptions = {
  readonly store: Store;
  readonly changes: Manifest['changes'];
  readonly signal?: AbortSignal | undefined;
};

/** The changes stored when a run was published; undefined if there are none any more. Throws `StoredObjectError`. */
export async function storedChanges(
  options: StoredChangesOptions,
): Promise<AsyncGenerator<Change> | undefined> {
  const { store, changes } = options;
  if (changes === null) return undefined;
  const isThere = (await store.list(changes.key).next()).value?.key === changes.key;
  return isThere ? readChanges(changes.key, options) : undefined;
}

async function* readChanges(key: string, { store, signal }: StoredChangesOptions): AsyncGenerator<Change> {
  const reader = readLines({ store, parts: [{ key }], signal });
  const read = { line: reader.line, members: noMembers() };
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next())
      yield changeOfLine(read, reader.place);
  } finally {
    await reader.close();
  }
}

/** The records stay byte for byte as they are: only the other members are parsed. */
function changeOfLine(read: ReadLine, place: () => string): Change {
  try {
    readMembers(read.line, read.members);
    const found = Array.from(valuesByName(read), ([name, text]) => [
      name,
      name === 'before' || name === 'after' ? text : parseOwnJson(text),
    ]);
    return Object.fromEntries(found) as Change;
  } catch (cause) {
    throw new StoredObjectError('invalid', `${place()}: expected a change, got something else`, { cause });
  }
}
