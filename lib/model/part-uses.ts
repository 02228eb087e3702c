import { hash } from 'node:crypto';
import { growing } from '../base/json/index.ts';
import { createRecordFields, eachLine, type LineReader, type Part } from '../snapshot/history/index.ts';
import { type Store, StoreError } from '../store/index.ts';
import { PACKED_TYPE, pack, unpack } from './packed.ts';
import {
  forEachUse,
  kinds,
  type LinkSource,
  linkFields,
  relations,
  statements,
} from './rules/record-rules.ts';
import { createUsesCollector, type PackedUses } from './uses-graph.ts';

/** The uses that the records of a part state. */
type PartUses = PackedUses & {
  /** For each record, the node of the thing that it describes, plus 1; 0 if it has no id. */
  readonly own: Uint32Array;
  /** The ids of records that are not in canonical form. */
  readonly spellings: readonly (readonly [record: number, id: string])[];
};

/** Increase this whenever the same lines lead to different uses than before. */
const VERSION = 2;
/** Identifies the rules by which uses are computed, in 12 characters. It is part of the keys of stored uses. */
export const USES_FORMAT = hash('sha256', JSON.stringify([VERSION, kinds, relations, statements])).slice(
  0,
  12,
);

/**
 * The key under which the uses of a published part are stored. It is not in a folder that SQL reads as a table of
 * records.
 */
export const usesKey = ({ key }: Pick<Part, 'key'>): string =>
  `parquet/uses/${key.replace(/\.ndjson\.[a-z]+$/, '')}-${USES_FORMAT}.packed`;

/** Whether the records of a source state uses. */
export const hasLinks = (source: string): source is LinkSource => Object.hasOwn(linkFields, source);

/** Creates a collector of the uses that lines state, for one part after another. */
export function createUsesBuilder(source: LinkSource) {
  const readFields = createRecordFields(linkFields[source]);
  const begin = () => ({
    uses: createUsesCollector(),
    own: growing(Uint32Array),
    spellings: [] as [number, string][],
  });
  let collected = begin();
  return {
    /** Adds the current line of a reader. Throws `StoredObjectError` with the line's location if it is not JSON. */
    add(reader: LineReader): void {
      const { uses, own, spellings } = collected;
      const record = readFields(reader);
      const self = forEachUse(source, record, uses.add);
      if (typeof record['id'] === 'string' && self !== undefined && record['id'] !== self.id)
        spellings.push([own.length(), record['id']]);
      own.push(self === undefined ? 0 : uses.nodeOf(self) + 1);
    },
    /** Returns the uses of all lines so far, packed to be stored, and begins the next part. */
    end(): Buffer {
      const { uses, own, spellings } = collected;
      const body = pack({ ...uses.pack(), own: own.values(), spellings } satisfies PartUses);
      collected = begin();
      return body;
    },
  };
}

type UsesToRead = {
  readonly store: Store;
  readonly source: LinkSource;
  readonly part: Part;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Computes the uses of a part from its lines. Throws `StoredObjectError` if the part is missing or altered, or one of
 * its lines is not JSON.
 */
async function buildUses({ store, source, part, signal }: UsesToRead): Promise<Buffer> {
  const builder = createUsesBuilder(source);
  await eachLine({ store, parts: [part], signal }, builder.add);
  return builder.end();
}

/**
 * Reads the stored uses of a published part. If they are missing or damaged, computes them from its lines, and stores
 * them unless the store is read-only.
 */
export async function usesOfPart(options: UsesToRead): Promise<PartUses> {
  const { store, part } = options;
  const key = usesKey(part);
  const stored = await storedUses(store, key);
  if (stored !== undefined) return stored.uses;
  const body = await buildUses(options);
  try {
    await store.put(key, body, { contentType: PACKED_TYPE });
  } catch (error) {
    // With a read-only store the uses stay in memory.
    if (!(error instanceof StoreError)) throw error;
  }
  // It was just packed, so it is not damaged.
  return unpack(body) as PartUses;
}

/** The uses stored under a key; undefined if they are missing or damaged. */
export async function storedUses(store: Pick<Store, 'get'>, key: string) {
  const body = (await store.get(key))?.body;
  const uses = body && unpack<PartUses>(body);
  return body && uses && { uses, body };
}
