import * as z from 'zod/mini';
import { shortened } from '../../../json/faults.ts';
import { type Dependent, type FindableKind, findableKinds, type UsedThing } from '../../graph/used-thing.ts';
import { whereUsed as findWhereUsed, type WhereUsed } from '../../graph/where-used.ts';
import { createRoom } from '../bounds.ts';
import { cursorInput, cursorOf, limitInput, listEnd, offsetSchema, readCursor } from '../cursor.ts';
import { withinTime } from '../time-limit.ts';
import { defineTool, READS, ToolError } from '../tool.ts';

const KINDS = Object.keys(findableKinds) as readonly FindableKind[];

/** Things with one id: of more, the others are left out. */
const MOST_THINGS = 5;
const MOST_WAYS = 3;
const MOST_FAULTS = 5;
/** Characters: of an id or a path, of a name, and of what is shorter. */
const LONGEST_ID = 300;
const LONGEST_NAME = 120;
const LONGEST_WORD = 60;
const LONGEST_WAY = 300;
const MOST_HOPS_SHOWN = 50;

const nullable = z.nullable(z.string());
const described = { name: nullable, type: nullable, owner: nullable };

const thing = z.object({
  kind: z.enum(KINDS),
  id: z.string(),
  ...described,
  inSnapshot: z.boolean().check(z.describe('false: only links name it, no snapshot has a record of it')),
  links: z.number(),
  broken: z.number(),
  total: z.number().check(z.describe('how many things depend on it')),
  hops: z.array(z.number()).check(z.describe('how many of them are 1, 2, 3 … uses away')),
});

const dependent = z.object({
  of: z.number().check(z.describe('which of the things found, from 0')),
  hop: z.number(),
  kind: z.enum(KINDS),
  id: z.string(),
  ...described,
  ways: z
    .array(z.string())
    .check(z.describe('how it depends: RELATION KIND ID (NAME), with what an invalid link says')),
});

type ShownThing = z.infer<typeof thing>;
type ShownDependent = z.infer<typeof dependent>;

/** `where_used`: what would break without a thing. */
export const whereUsed = defineTool({
  title: 'Where used',
  description:
    'Finds what depends on a dataset, calculation, card, file, FileSet or data file, over several hops: what would break if it were deleted, and by which links, also invalid ones. Nearest first.',
  annotations: READS,
  input: z.strictObject({
    id: z
      .string({ error: 'an id, as text' })
      .check(
        z.regex(/\S/, { error: 'an id that is not empty' }),
        z.maxLength(2_000, { error: 'an id of at most 2000 characters' }),
      )
      .check(z.describe('an id; of a file or directory, its path or its id')),
    kind: z.optional(z.enum(KINDS, { error: `one of ${KINDS.join(', ')}` })),
    hops: z.optional(
      z
        .number({ error: 'a whole number of at least 1' })
        .check(
          z.int({ error: 'a whole number of at least 1' }),
          z.gte(1, { error: 'a whole number of at least 1' }),
        )
        .check(z.describe('how many uses away, at most; default: any number')),
    ),
    limit: limitInput(100, 20),
    cursor: cursorInput,
  }),
  output: z.object({
    searched: z.array(z.object({ place: z.string(), run: z.string(), records: z.number() })),
    unpublished: z.array(z.string()),
    data: z.object({
      found: z.array(thing),
      dependents: z.array(dependent),
      faults: z.array(z.string()),
    }),
    ...listEnd,
  }),
  async run({ id, kind, hops, limit, cursor }, call) {
    const store = await call.store();
    const at = cursor === undefined ? 0 : readCursor(cursor, offsetSchema).at;
    const outcome = await withinTime(
      call.signal,
      (signal) => findWhereUsed({ store, id, kind, hops, most: at + limit + 1, signal }),
      { instead: `run: platform-sync where-used ID` },
    );
    const { found, faults, unpublished } = outcome;
    if (found.length === 0) throw notFound(id, outcome, store.location);
    const searched = outcome.searched
      .slice(0, 50)
      .map(({ place, run, records }) => ({ place, run, records }));
    const things = found.slice(0, MOST_THINGS).map(showThing);
    const head = { searched, unpublished: [...unpublished] };
    const shownFaults = faults.slice(0, MOST_FAULTS).map((fault) => shortened(fault, LONGEST_WAY));
    const rest = { found: things, faults: shownFaults };
    const room = createRoom(
      { ...head, data: { ...rest, dependents: [] }, nextCursor: 'x'.repeat(200) },
      limit,
    );
    const all = found.slice(0, MOST_THINGS).flatMap((each, of) => each.dependents.map(shownBy(of)));
    const dependents = all.slice(at).filter(room.takes);
    const end = at + dependents.length;
    const isCut = end < all.length || things.length < found.length;
    return {
      ...head,
      data: { ...rest, dependents },
      isCut,
      ...(end < all.length ? { nextCursor: cursorOf({ at: end }) } : {}),
    };
  },
});

function notFound(id: string, { searched, hints }: WhereUsed, location: string): ToolError {
  if (searched.length === 0)
    return new ToolError(
      `nothing that could name it has been published in ${location}: check SYNC_STORE, or take a snapshot with platform-sync snapshot calculations`,
    );
  const meant = hints.map(
    (hint) => `${hint.kind} ${shortened(hint.id, 100)} (${shortened(hint.name ?? '', 100)})`,
  );
  const hint = meant.length === 0 ? ': use search to find its id' : `; perhaps ${meant.join(', or ')}`;
  return new ToolError(
    `nothing has the id ${JSON.stringify(shortened(id, 200))} in the last snapshots${hint}`,
  );
}

const short = (text: string | null, most: number): string | null =>
  text === null ? null : shortened(text, most);

const showThing = ({
  kind,
  id,
  name,
  type,
  owner,
  inSnapshot,
  links,
  broken,
  total,
  hops,
}: UsedThing): ShownThing => ({
  kind,
  id: shortened(id, LONGEST_ID),
  name: short(name, LONGEST_NAME),
  type: short(type, LONGEST_WORD),
  owner: short(owner, LONGEST_WORD),
  inSnapshot,
  links,
  broken,
  total,
  hops: hops.slice(0, MOST_HOPS_SHOWN),
});

const shownBy =
  (of: number) =>
  ({ hop, kind, id, name, type, owner, ways }: Dependent): ShownDependent => ({
    of,
    hop,
    kind,
    id: shortened(id, LONGEST_ID),
    name: short(name, LONGEST_NAME),
    type: short(type, LONGEST_WORD),
    owner: short(owner, LONGEST_WORD),
    ways: ways.slice(0, MOST_WAYS).map((way) => {
      const named = way.name === null ? '' : ` (${shortened(way.name, LONGEST_NAME)})`;
      const valid = way.valid === null ? '' : `: ${way.valid}`;
      return shortened(`${way.relation} ${way.kind} ${way.id}${named}${valid}`, LONGEST_WAY);
    }),
  });
