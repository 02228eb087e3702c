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

type PartUses = PackedUses & {
  /** By record: the node of its own thing, plus 1; 0 if it has no id. */
  readonly own: Uint32Array;
  /** The ids of records that are not written in canonical form. */
  readonly spellings: readonly (readonly [record: number, id: string])[];
};

/** Goes up when the same lines give other uses. */
const VERSION = 2;
export const USES_FORMAT = hash('sha256', JSON.stringify([VERSION, kinds, relations, statements])).slice(
  0,
  12,
);

/** The key of the uses of a published part, outside the folders of tables over records. */
export const usesKey = ({ key }: Pick<Part, 'key'>): string =>
  `parquet/uses/${key.replace(/\.ndjson\.[a-z]+$/, '')}-${USES_FORMAT}.packed`;

/** True for a source whose records state uses. */
export const hasLinks = (source: string): source is LinkSource => Object.hasOwn(linkFields, source);

/** Collects what lines state, one part after another. */
export function createUsesBuilder(source: LinkSource) {
  const readFields = createRecordFields(linkFields[source]);
  const begin = () => ({
    uses: createUsesCollector(),
    own: growing(Uint32Array),
    spellings: [] as [number, string][],
  });
  let collected = begin();
  return {
    /** Takes the current line of a reader. Throws `StoredObjectError` that names a line that is not JSON. */
    add(reader: LineReader): void {
      const { uses, own, spellings } = collected;
      const record = readFields(reader);
      const self = forEachUse(source, record, uses.add);
      if (typeof record['id'] === 'string' && self !== undefined && record['id'] !== self.id)
        spellings.push([own.length(), record['id']]);
      own.push(self === undefined ? 0 : uses.nodeOf(self) + 1);
    },
    /** The uses of the lines so far, to be stored; the next part begins. */
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

/** The uses of a part. Throws `StoredObjectError` if it is missing or altered, or a line of it is not JSON. */
export async function buildUses({ store, source, part, signal }: UsesToRead): Promise<Buffer> {
  const maker = createUsesBuilder(source);
  await eachLine({ store, parts: [part], signal }, maker.add);
  return maker.end();
}

/**
 * The uses of a published part: as stored, or else computed from its lines and stored, unless the store is read-only.
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
    // With a read-only store they stay in memory.
    if (!(error instanceof StoreError)) throw error;
  }
  // Just packed, so not damaged.
  return unpack(body) as PartUses;
}

/** The uses stored under a key; undefined if they are missing or damaged. */
export async function storedUses(store: Pick<Store, 'get'>, key: string) {
  const body = (await store.get(key))?.body;
  const uses = body && unpack<PartUses>(body);
  return body && uses && { uses, body };
}
