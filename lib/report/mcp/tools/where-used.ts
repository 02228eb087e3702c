import * as z from 'zod/mini';
import { shortened } from '../../../base/index.ts';
import { type Dependent, type FindableKind, findableKinds, type UsedThing } from '../../graph/used-thing.ts';
import { whereUsed as findWhereUsed, type WhereUsed } from '../../graph/where-used.ts';
import { listEnd, listInput, offsetOf, pageOf } from '../pages.ts';
import { nothingPublished, shownFaults } from '../published.ts';
import { defineTool, oneOf, READS, ToolError, textInput, wholeInput } from '../tool.ts';

const KINDS = Object.keys(findableKinds) as readonly FindableKind[];

/** Things with one id: of more, the others are left out. */
const MOST_THINGS = 5;
const MOST_PLACES = 50;
const MOST_WAYS = 3;
/** Characters: of an id or a path, of a name, and of what is shorter. */
const LONGEST_ID = 300;
const LONGEST_NAME = 120;
const LONGEST_WORD = 60;
const LONGEST_WAY = 300;
const MOST_HOPS_SHOWN = 50;

const nullable = z.nullable(z.string());
const described = { kind: z.enum(KINDS), id: z.string(), name: nullable, type: nullable, owner: nullable };

const thing = z.object({
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
  ...described,
  ways: z
    .array(z.string())
    .check(z.describe('how it depends: RELATION KIND ID (NAME), with what an invalid link says')),
});

/** `where_used`: what would break without a thing. */
export const whereUsed = defineTool({
  title: 'Where used',
  description:
    'Finds what depends on a dataset, calculation, card, file, FileSet or data file, over several hops: what would break if it were deleted, and by which links, also invalid ones. Nearest first.',
  annotations: READS,
  input: z.strictObject({
    id: textInput('an id of at most 2000 characters, as text', 2_000)
      .check(z.regex(/\S/, { error: 'an id that is not empty' }))
      .check(z.describe('an id; of a file or directory, its path or its id')),
    kind: z.optional(oneOf(KINDS)),
    hops: z.optional(wholeInput(1).check(z.describe('how many uses away, at most; default: any number'))),
    ...listInput,
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
  instead: 'run: platform-sync where-used ID',
  async run({ id, kind, hops, limit, cursor }, { signal, ...call }) {
    const store = await call.store();
    const at = offsetOf(cursor);
    const outcome = await findWhereUsed({ store, id, kind, hops, most: at + limit + 1, signal });
    const { searched, found, faults, unpublished } = outcome;
    if (searched.length === 0) throw nothingPublished(store, 'nothing that could name it');
    if (found.length === 0) throw notFound(id, outcome);
    const things = found.slice(0, MOST_THINGS);
    const head = {
      searched: searched.slice(0, MOST_PLACES).map(({ place, run, records }) => ({ place, run, records })),
      unpublished: [...unpublished],
    };
    const rest = { found: things.map(showThing), faults: shownFaults(faults) };
    const all = things.flatMap((each, of) => each.dependents.map((one) => ({ of, ...showDependent(one) })));
    const beside = { ...head, data: { ...rest, dependents: [] } };
    const { fitting, end } = pageOf(all.slice(at), { beside, at, limit });
    const isCut = end.isCut || things.length < found.length;
    return { ...head, data: { ...rest, dependents: fitting }, ...end, isCut };
  },
});

function notFound(id: string, { hints }: WhereUsed): ToolError {
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

/** What both have, shortened. */
const describe = ({ kind, id, name, type, owner }: UsedThing | Dependent) => ({
  kind,
  id: shortened(id, LONGEST_ID),
  name: short(name, LONGEST_NAME),
  type: short(type, LONGEST_WORD),
  owner: short(owner, LONGEST_WORD),
});

function showThing(of: UsedThing): z.infer<typeof thing> {
  const { inSnapshot, links, broken, total, hops } = of;
  return { ...describe(of), inSnapshot, links, broken, total, hops: hops.slice(0, MOST_HOPS_SHOWN) };
}

const showDependent = (of: Dependent): Omit<z.infer<typeof dependent>, 'of'> => ({
  hop: of.hop,
  ...describe(of),
  ways: of.ways.slice(0, MOST_WAYS).map((way) => {
    const named = way.name === null ? '' : ` (${shortened(way.name, LONGEST_NAME)})`;
    const valid = way.valid === null ? '' : `: ${way.valid}`;
    return shortened(`${way.relation} ${way.kind} ${way.id}${named}${valid}`, LONGEST_WAY);
  }),
});
