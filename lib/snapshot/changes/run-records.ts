import { parseJson } from '../../json/json.ts';
import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import type { Manifest } from '../manifest.ts';
import { type Source, sourceDefinitions } from '../sources/sources.ts';
import { partLines } from './part-lines.ts';
import { describeKey, recordKey } from './record-key.ts';

/** A record as it is stored in a part. */
export type StoredRecord = { readonly key: string; readonly line: string };

export type RunRecordsOptions = {
  readonly store: Store;
  readonly source: Source;
  /** The run; undefined means a run without records. */
  readonly run: Pick<Manifest, 'parts'> | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The records of a run in the order of its parts, in batches as they arrive. Throws `StoredObjectError` that names the
 * part that does not match the manifest, or the line that is not a record.
 */
export async function* runRecords(options: RunRecordsOptions): AsyncGenerator<readonly StoredRecord[]> {
  const { store, source, run, signal } = options;
  for (const part of run?.parts ?? []) {
    let number = 0;
    for await (const lines of partLines({ store, part, signal })) {
      yield lines.map((line) => {
        number += 1;
        return { key: keyOf(source, line, `${part.key}, line ${number}`), line };
      });
    }
  }
}

function keyOf(source: Source, line: string, where: string): string {
  const rule = sourceDefinitions[source].records.key;
  const key = recordKey(rule, parse(line, where));
  if (key === undefined)
    throw new StoredObjectError('invalid', `${where}: expected a record with ${describeKey(rule)}, got none`);
  return key;
}

function parse(line: string, where: string): unknown {
  try {
    return parseJson(line);
  } catch (cause) {
    throw new StoredObjectError('invalid', `${where}: expected a record as JSON, got something else`, {
      cause,
    });
  }
}
