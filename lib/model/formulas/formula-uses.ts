import { growing } from '../../base/json/index.ts';
import { canonicalId, lowerCase, type Thing, thing } from '../rules/record-rules.ts';
import {
  createStringNumbers,
  createUsesCollector,
  graphIn,
  type PackedUses,
  thingsIn,
  withDirections,
} from '../uses-graph.ts';
import { valuesIn } from './imported-formulas.ts';
import type { KnownFormula } from './known-formulas.ts';

/** A known formula, with the result of parsing it. */
export type ParsedKnownFormula = Omit<KnownFormula, 'datasetIds'> & {
  /** The calculation's id, in the form of `canonicalId`. */
  readonly id: string;
  readonly status: 'valid' | 'invalid';
  /** The type of its result in lower case; null for an invalid formula, whose `functions` and `columns` are empty. */
  readonly dataType: string | null;
  readonly functions: readonly string[];
  /** The names of the columns, spelled as at their first use in the formula, without backticks. */
  readonly columns: readonly string[];
};

/** The known formulas of a model. `lines`: one formula a line, as JSON; `nodes`: the node of each one's calculation. */
type PackedFormulas = {
  readonly nodes: Uint32Array;
  /** A number for each formula; equal formulas have equal numbers. */
  readonly same: Uint32Array;
  readonly lines: Uint8Array;
};

/** Reads the formulas of a model. */
export const formulasIn = ({ lines }: PackedFormulas): Generator<ParsedKnownFormula> =>
  valuesIn(Buffer.from(lines.buffer, lines.byteOffset, lines.byteLength));

/** The formula of the calculation at a node; undefined if its text is not known. */
export function formulaOf(
  { nodes, ...formulas }: PackedFormulas,
  node: number,
): ParsedKnownFormula | undefined {
  const index = nodes.indexOf(node);
  return index === -1
    ? undefined
    : formulasIn({ nodes, ...formulas })
        .drop(index)
        .next().value;
}

const NO_FORMULAS: PackedFormulas = {
  nodes: new Uint32Array(0),
  same: new Uint32Array(0),
  lines: new Uint8Array(0),
};

/**
 * The `Thing` of a column. Its id is `DATASET:COLUMN`, or `:COLUMN` if the calculation's dataset is unknown. The case
 * of names does not matter. Undefined for an empty name.
 */
const columnOf = (dataset: string, column: string): Thing | undefined =>
  column.trim() === '' ? undefined : thing('column', `${dataset}:${column.trim()}`);

/**
 * Adds to `uses` what the known formulas read (columns, in each dataset of their calculation) and refer to
 * (calculations). Existing nodes keep their numbers. `known`: the formulas by the canonical ids of their calculations.
 */
export async function withFormulas(
  uses: PackedUses,
  known: ReadonlyMap<string, KnownFormula>,
): Promise<{ readonly uses: PackedUses; readonly formulas: PackedFormulas }> {
  if (known.size === 0) return { uses, formulas: NO_FORMULAS };
  // The parser is large, so it is loaded only here.
  const parser = await import('../../formula/index.ts');
  const datasets = datasetsOf(uses, known);
  const collector = createUsesCollector();
  collector.addPacked(uses);
  const texts = createStringNumbers();
  const nodes = growing(Uint32Array);
  const same = growing(Uint32Array);
  const lines: string[] = [];
  for (const [id, formula] of known) {
    const { read, canonical, references } = readFormula(id, formula, parser);
    const user = { kind: 'calculation', id } as const;
    nodes.push(collector.nodeOf(user));
    same.push(texts.numberOf(Buffer.from(canonical)));
    lines.push(`${JSON.stringify(read)}\n`);
    const use = { user, validity: null, statedBy: 'formula' } as const;
    for (const used of references) collector.add({ ...use, used, relation: 'refers to' });
    const named = formula.datasetIds.flatMap((each) => canonicalId(each) ?? []);
    const on = new Set([...(datasets.get(id) ?? []), ...named]);
    for (const dataset of on.size === 0 ? [''] : on)
      for (const column of read.columns) {
        const used = columnOf(dataset, column);
        if (used !== undefined) collector.add({ ...use, used, relation: 'reads' });
      }
  }
  return {
    uses: withDirections(collector.pack()),
    formulas: { nodes: nodes.values(), same: same.values(), lines: Buffer.from(lines.join('')) },
  };
}

function readFormula(
  id: string,
  { datasetIds: _, ...formula }: KnownFormula,
  { analyzeParsed, canonicalFormula, parseFormula }: typeof import('../../formula/index.ts'),
) {
  const { expression } = formula;
  const parsed = parseFormula(expression);
  const analysis = analyzeParsed(expression, parsed);
  const { functions, columns, references } = analysis;
  const dataType = analysis.status === 'VALID' ? lowerCase(analysis.dataType) : null;
  const read: ParsedKnownFormula = {
    id,
    ...formula,
    status: lowerCase(analysis.status),
    dataType,
    functions,
    columns,
  };
  return {
    read,
    canonical: parsed.kind === 'parsed' ? canonicalFormula(parsed.formula) : expression,
    references: references.map((each): Thing => ({ kind: 'calculation', id: each.id })),
  };
}

/** The datasets of these calculations, by the ids of the calculations. */
function datasetsOf(uses: PackedUses, wanted: Pick<ReadonlyMap<string, unknown>, 'has'>) {
  const { kindAt, thingAt } = thingsIn(uses.things);
  const { user, used } = graphIn(uses);
  const found = new Map<string, string[]>();
  for (let edge = 0; edge < user.length; edge += 1) {
    const by = user[edge] ?? 0;
    const of = used[edge] ?? 0;
    if (kindAt(of) !== 'dataset' || kindAt(by) !== 'calculation') continue;
    const { id } = thingAt(by);
    if (wanted.has(id)) found.set(id, [...(found.get(id) ?? []), thingAt(of).id]);
  }
  return found;
}
