import * as z from 'zod/mini';
import { parsePlace } from '../../snapshot/keys.ts';
import { findStored, printStored, unlessDamaged } from '../../store/index.ts';
import { makeTables, type Named, type TableGroup, type TablesToMake } from './make-tables.ts';

/** What the function is started with. `published`: the key of a `latest.json` that was stored, for its place alone. */
export const writeTablesEvent = z.object({
  resultsDays: z.number().check(z.positive()),
  published: z.optional(z.string()),
});

/** What one call has done. `left` is where the next one continues. */
export type WrittenTables = {
  readonly made: number;
  readonly files: number;
  readonly records: number;
  /** The first of those that are damaged, with the reason. */
  readonly skipped: readonly string[];
  readonly left: Named | undefined;
};

/** Where the last call stopped. Below `work/`, where what nobody writes any more expires. */
const LEFT_KEY = 'work/tables-left.json';

const leftSchema = z.object({
  version: z.literal(1),
  left: z.optional(
    z.object({ group: z.custom<TableGroup>((value) => typeof value === 'string'), name: z.string() }),
  ),
});

/** The most that a line of the log names. */
const MOST_SKIPPED = 20;

/**
 * Does as much of `makeTables` as there is time for: of the place that was published, or of all, from where the last call
 * stopped.
 */
export async function writeTables({
  published,
  ...options
}: Omit<TablesToMake, 'isDry' | 'from' | 'groups'> &
  z.infer<typeof writeTablesEvent>): Promise<WrittenTables> {
  const { store } = options;
  const place = parsePlace(published?.split('/').at(-2) ?? '');
  const groups = place && [place];
  const last = groups ? undefined : await findStored(store, LEFT_KEY, leftSchema).catch(unlessDamaged());
  const from = last?.value.left;
  const written = { made: 0, files: 0, records: 0 };
  const skipped: string[] = [];
  let left: Named | undefined;
  for await (const outcome of makeTables({ ...options, groups, from, isDry: false, isSparse: true })) {
    const { group, name, kind } = outcome;
    if (kind === 'left') left = { group, name };
    if (kind === 'skipped' && skipped.length < MOST_SKIPPED) skipped.push(`${group} ${name}: ${outcome.why}`);
    if (kind !== 'made') continue;
    written.made += 1;
    written.files += outcome.files;
    written.records += outcome.records;
  }
  if (groups === undefined && (left !== undefined || from !== undefined))
    await store.put(LEFT_KEY, printStored({ version: 1, left }));
  return { ...written, skipped, left };
}
