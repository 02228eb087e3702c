import * as z from 'zod/mini';
import { shortened } from '../../../base/index.ts';
import { lowerCase } from '../../../model/rules/index.ts';
import { storeAsOf } from '../../as-of.ts';
import { findableKinds } from '../../findable-kinds.ts';
import { whereUsed as findWhereUsed, type WhereUsed } from '../../where-used.ts';
import { withShortTexts } from '../answer.ts';
import {
  atInput,
  defineList,
  defineTool,
  described,
  nothingPublished,
  oneOf,
  ToolError,
  textInput,
  wholeInput,
} from '../tool.ts';

const KINDS = findableKinds;

/** Maximum things with the requested id to return. */
const MAX_THINGS = 5;
const MAX_WAYS = 3;
const MAX_HOPS_SHOWN = 50;
const MAX_COLUMNS_SHOWN = 100;
/** Maximum characters of an id, a path, a name, or a way in which a thing is used. */
const MAX_STRING_LENGTH = 240;

const waysIn = (ways: WhereUsed['found'][number]['dependents'][number]['ways']): readonly string[] =>
  ways
    .slice(0, MAX_WAYS)
    .map(
      ({ relation, kind, id, name, valid }) =>
        `${relation} ${kind} ${id}${name === null ? '' : ` (${name})`}${valid === null ? '' : `: ${valid}`}`,
    );

/** `where_used`: finds what depends on a thing. */
export const whereUsed = defineList({
  title: 'Where used',
  description:
    'Finds what depends on a dataset, calculation, card, file, FileSet, data file or column, over several hops: what would break if it were deleted (or, for a column, renamed), and the columns that a calculation or dataset reads. The nearest come first. Each thing found has the number of its dependents (hops: 1, 2, 3 … hops away) and of links to it, and inSnapshot: false if only links refer to it. Each dependent has the index of the thing found, and ways: RELATION KIND ID (NAME), with the validity of an invalid link.',
  input: {
    id: described(
      textInput('an id of at most 2000 characters, as a string', 2_000).check(
        z.regex(/\S/, { error: 'an id that is not empty' }),
      ),
      'an id; of a file or directory, its path or its id; of a column, its name',
    ),
    kind: z.optional(oneOf(KINDS)),
    dataset: described(
      z.optional(textInput('an id of at most 2000 characters', 2_000)),
      'only the column of this dataset',
    ),
    hops: described(z.optional(wholeInput(1, 1_000)), 'only what depends on it over at most this many uses'),
    at: atInput,
  },
  list: 'dependents',
  instead: 'run: platform-sync where-used ID',
  async run({ at: atMs, ...asked }, { at, max }, call) {
    const now = await call.store();
    const store = atMs === undefined ? now : await storeAsOf(now, atMs);
    const { signal } = call;
    const outcome = await findWhereUsed({
      store,
      ...asked,
      maxListed: max,
      mayLack: atMs !== undefined,
      signal,
    });
    const { searched, found, unpublished, notRead, formulasNote } = outcome;
    if (searched.length === 0) throw nothingPublished(store, 'nothing that could refer to it');
    if (found.length === 0) throw notFound(asked.id, outcome);
    const things = found.slice(0, MAX_THINGS);
    const shown = things.map(({ dependents: _, hops, columns, ...each }) => ({
      ...each,
      hops: hops.slice(0, MAX_HOPS_SHOWN),
      columns: columns.slice(0, MAX_COLUMNS_SHOWN),
    }));
    const dependents = things.flatMap(({ dependents: listed }, of) =>
      listed.map(({ waysTotal: _, ways, ...one }) => ({ of, ...one, ways: waysIn(ways) })),
    );
    return {
      head: formulasNote === undefined ? {} : { note: formulasNote },
      items: dependents.slice(at).map((each) => withShortTexts(each, MAX_STRING_LENGTH)),
      data: { found: withShortTexts(shown, MAX_STRING_LENGTH), searched, unpublished, notRead },
      isCut: things.length < found.length || things.some(({ columns }) => columns.length > MAX_COLUMNS_SHOWN),
    };
  },
});

function notFound(id: string, { hints, formulasNote }: WhereUsed): ToolError {
  const suggestions = hints.map(
    (hint) => `${hint.kind} ${shortened(hint.id, 100)} (${shortened(hint.name ?? '', 100)})`,
  );
  const hint =
    suggestions.length === 0 ? ': use search to find its id' : `; perhaps ${suggestions.join(', or ')}`;
  return new ToolError(
    `nothing has the id ${JSON.stringify(shortened(id, 200))} in the last snapshots${hint}${formulasNote ? `\n${formulasNote}` : ''}`,
  );
}

/** Maximum characters of a formula, more than any user writes. */
const MAX_FORMULA_LENGTH = 20_000;

/** `formula_check`: checks whether the platform would accept a formula. */
export const formulaCheck = defineTool({
  title: 'Check a formula',
  description:
    'Parses a formula here, without the platform: whether it is valid, its data type, the columns, functions and other calculations that it uses, and each fault or warning about what the platform may refuse, with line and column.',
  input: z.strictObject({
    formula: textInput(
      `a formula of at most ${MAX_FORMULA_LENGTH} characters, as a string`,
      MAX_FORMULA_LENGTH,
    ),
  }),
  async run({ formula }) {
    // The parser is large, so the other tools start without it.
    const { analyzeFormula, checkSum } = await import('../../../formula/index.ts');
    const analysis = analyzeFormula(formula);
    const status = lowerCase(analysis.status);
    return { data: { checkSum: String(checkSum(formula)), faults: [], ...analysis, status } };
  },
});
