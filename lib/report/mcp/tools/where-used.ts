import * as z from 'zod/mini';
import { shortened } from '../../../base/index.ts';
import { type Dependent, type FindableKind, findableKinds } from '../../graph/used-thing.ts';
import { whereUsed as findWhereUsed, type WhereUsed } from '../../graph/where-used.ts';
import { defineList, withShortTexts } from '../pages.ts';
import { faultsShown, nothingPublished, runShown, shownFaults, shownRuns } from '../published.ts';
import { described, oneOf, ToolError, textInput, wholeInput } from '../tool.ts';

const KINDS = Object.keys(findableKinds) as readonly FindableKind[];

/** Things with one id: of more, the others are left out. */
const MOST_THINGS = 5;
const MOST_WAYS = 3;
const MOST_HOPS_SHOWN = 50;
/** Characters of an id, a path, a name or a way. */
const LONGEST = 240;

const nullable = z.nullable(z.string());
const said = { kind: z.enum(KINDS), id: z.string(), name: nullable, type: nullable, owner: nullable };

/** What is shown of a thing: the members of its schema. */
const thing = z.object({
  ...said,
  inSnapshot: described(z.boolean(), 'false: only links name it, no snapshot has a record of it'),
  links: z.number(),
  broken: z.number(),
  total: described(z.number(), 'how many things depend on it'),
  hops: described(z.array(z.number()), 'how many of them are 1, 2, 3 … uses away'),
});

const dependent = z.object({
  of: described(z.number(), 'which of the things found, from 0'),
  hop: z.number(),
  ...said,
  ways: described(
    z.array(z.string()),
    'how it depends: RELATION KIND ID (NAME), with what an invalid link says',
  ),
});

/** `where_used`: what would break without a thing. */
export const whereUsed = defineList({
  title: 'Where used',
  description:
    'Finds what depends on a dataset, calculation, card, file, FileSet or data file, over several hops: what would break if it were deleted, and by which links, also invalid ones. Nearest first.',
  input: {
    id: described(
      textInput('an id of at most 2000 characters, as text', 2_000).check(
        z.regex(/\S/, { error: 'an id that is not empty' }),
      ),
      'an id; of a file or directory, its path or its id',
    ),
    kind: z.optional(oneOf(KINDS)),
    hops: described(z.optional(wholeInput(1)), 'how many uses away, at most; default: any number'),
  },
  list: ['dependents', dependent],
  longest: LONGEST,
  data: { found: z.array(thing), faults: faultsShown },
  output: { searched: runShown, unpublished: z.array(z.string()) },
  instead: 'run: platform-sync where-used ID',
  async run(asked, { at, most }, call) {
    const store = await call.store();
    const { signal } = call;
    const outcome = await findWhereUsed({ store, ...asked, most, signal });
    const { searched, found, faults, unpublished } = outcome;
    if (searched.length === 0) throw nothingPublished(store, 'nothing that could name it');
    if (found.length === 0) throw notFound(asked.id, outcome);
    const things = found.slice(0, MOST_THINGS);
    const shown = things.map((each) => thing.parse({ ...each, hops: each.hops.slice(0, MOST_HOPS_SHOWN) }));
    return {
      head: { searched: shownRuns([...searched]), unpublished },
      data: { found: withShortTexts(shown, LONGEST), faults: shownFaults(faults) },
      items: things
        .flatMap(({ dependents }, of) =>
          dependents.map((one) => dependent.parse({ of, ...one, ways: waysOf(one) })),
        )
        .slice(at),
      isCut: things.length < found.length,
    };
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

const waysOf = ({ ways }: Dependent): readonly string[] =>
  ways
    .slice(0, MOST_WAYS)
    .map(
      ({ relation, kind, id, name, valid }) =>
        `${relation} ${kind} ${id}${name === null ? '' : ` (${name})`}${valid === null ? '' : `: ${valid}`}`,
    );
