import { parseOwnJson } from '../../base/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import type { Manifest } from '../manifest.ts';
import type { Change } from './change.ts';
import { isNamed, type LineMembers, nameAt, noMembers, readMembers } from './line-members.ts';
import { type Line, type LineReader, readLines } from './line-reader.ts';

export type StoredChangesOptions = {
  readonly store: Store;
  /** What the manifest of a published run says of its changes. */
  readonly changes: Manifest['changes'];
  readonly signal?: AbortSignal | undefined;
};

/**
 * The changes that were stored when a run was published, in their order; undefined if there are none, as for a run whose
 * changes have expired. Throws `StoredObjectError` that names the line that is not a change.
 */
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
  const members = noMembers();
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next())
      yield changeOfLine(reader, members);
  } finally {
    await reader.close();
  }
}

/** The records stay byte for byte as they are: only the other members are parsed. */
function changeOfLine({ line, place }: LineReader, members: LineMembers): Change {
  try {
    readMembers(line, members);
    const found = Object.fromEntries(
      Array.from({ length: members.count }, (_, at) => [
        nameAt(line, members, at),
        memberOf(line, members, at),
      ]),
    );
    return found as unknown as Change;
  } catch (cause) {
    throw new StoredObjectError('invalid', `${place()}: expected a change, got something else`, { cause });
  }
}

const RECORDS = [Buffer.from('"before"'), Buffer.from('"after"')];

function memberOf(line: Line, members: LineMembers, at: number): unknown {
  const text = line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]);
  return RECORDS.some((name) => isNamed(line, members, at, name)) ? text : parseOwnJson(text);
}
