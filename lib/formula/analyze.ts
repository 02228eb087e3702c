import { entryOf, referenceKindOf } from './catalog.ts';
import { idOf } from './check.ts';
import { checkSum } from './checksum.ts';
import type { ColumnTypes, DataType } from './data-type.ts';
import type { FormulaFault } from './fault.ts';
import { dataTypeOf } from './infer-data-type.ts';
import { parseFormula } from './parse.ts';
import { quoteColumn } from './quotes.ts';
import type { Column, Expression, Operator } from './syntax.ts';
import { isAggregate, type PlacedNode, walk } from './walk.ts';

/** What the platform reports about a formula (contract 2.1), and more. For an INVALID one, all lists are empty. */
export type FormulaAnalysis =
  | (FormulaFacts & {
      readonly status: 'VALID';
      readonly dataType: DataType;
      /** What the platform may refuse, such as a function that it is not known to have: at most 20. */
      readonly warnings: readonly FormulaFault[];
    })
  | (FormulaFacts & { readonly status: 'INVALID'; readonly faults: readonly FormulaFault[] });

type FormulaFacts = {
  /** Unique function names in upper case, and SERVICE_OP_… for arithmetic; sorted. */
  readonly functions: readonly string[];
  /** Every occurrence of a column in backticks, in the order of the text. */
  readonly columnPositions: readonly ColumnPosition[];
  /** Whether it contains an aggregate. */
  readonly aggregated: boolean;
  /** Whether it contains a window function, or an aggregate OVER a window. */
  readonly analytic: boolean;
  /** Unique names, in backticks, of columns used outside any aggregate, in the order of their first use. */
  readonly nonAggregatedColumns: readonly string[];
  /** Unique names without backticks, in the order of their first use. */
  readonly columns: readonly string[];
  /** The calculations and variables that it needs, each once, in the order of their first use. */
  readonly references: readonly FormulaReference[];
};

/** `columnName` as written, in backticks; `columnPosition` is the first backtick's offset in UTF-16 code units. */
type ColumnPosition = { readonly columnName: string; readonly columnPosition: number };

/** Another formula, by its id: any number of decimal digits, without leading zeros. */
type FormulaReference = { readonly kind: 'calculation' | 'variable'; readonly id: string };

/** Parses a formula and reports what the platform would. Never throws. `columnTypes` makes `dataType` more precise. */
export function analyzeFormula(text: string, columnTypes?: ColumnTypes): FormulaAnalysis {
  const parsed = parseFormula(text);
  return parsed.kind === 'failed'
    ? { status: 'INVALID', faults: parsed.faults, ...factsOf([], text) }
    : {
        status: 'VALID',
        dataType: dataTypeOf(parsed.formula, columnTypes),
        warnings: parsed.warnings,
        ...factsOf([...walk(parsed.formula)], text),
      };
}

/**
 * A formula, what keeps it from being sent, and what the platform may refuse of it, each as `WHERE:LINE:COLUMN: message`.
 * `isStrict`: what it may refuse is refused. Never throws.
 */
export function judgeFormula(text: string, where: string, isStrict = false) {
  const analysis = analyzeFormula(text);
  const { faults, warnings } = { faults: [], warnings: [], ...analysis };
  const printed = [
    ...faults.map(({ line, column, message }) => `${where}:${line}:${column}: ${message}`),
    ...warnings.map(({ line, column, message }) => `${where}:${line}:${column}: warning: ${message}`),
  ];
  const isRefused = isStrict || analysis.status === 'INVALID';
  const judged = isRefused ? { faults: printed, warnings: [] } : { faults: [], warnings: printed };
  return { analysis, checkSum: checkSum(text), ...judged };
}

function factsOf(places: readonly PlacedNode[], text: string): FormulaFacts {
  const nodes = places.map(({ node }) => node);
  const columns = places.filter(isColumn);
  return {
    functions: unique(nodes.flatMap(functionsOf)).toSorted(),
    columnPositions: columns
      .filter(({ node }) => text.startsWith('`', node.offset))
      .map(({ node }) => ({ columnName: quoteColumn(node.name), columnPosition: node.offset })),
    aggregated: nodes.some(isAggregate),
    analytic: nodes.some(isAnalytic),
    nonAggregatedColumns: unique(
      columns.filter(({ inAggregate }) => !inAggregate).map(({ node }) => quoteColumn(node.name)),
    ),
    columns: unique(columns.map(({ node }) => node.name)),
    references: referencesOf(nodes),
  };
}

const unique = <Item>(items: readonly Item[]): Item[] => [...new Set(items)];

const isColumn = (place: PlacedNode): place is PlacedNode & { readonly node: Column } =>
  place.node.kind === 'column';

const isAnalytic = (node: Expression): boolean =>
  node.kind === 'window' || (node.kind === 'call' && entryOf(node.name)?.kind === 'window');

function functionsOf(node: Expression): readonly string[] {
  if (node.kind === 'operation') return node.rest.flatMap(({ operator }) => arithmetic.get(operator) ?? []);
  return node.kind === 'call' && entryOf(node.name)?.kind !== 'reference' ? [node.name] : [];
}

// (assumed) The notes name four. MySQL calls `%` a synonym of MOD, and DIV divides.
const arithmetic: ReadonlyMap<Operator, string> = new Map([
  ['+', 'SERVICE_OP_ADD'],
  ['-', 'SERVICE_OP_SUBTRACT'],
  ['*', 'SERVICE_OP_MULTIPLY'],
  ['/', 'SERVICE_OP_DIVIDE'],
  ['%', 'MOD'],
  ['DIV', 'SERVICE_OP_DIVIDE'],
]);

function referencesOf(nodes: readonly Expression[]): FormulaReference[] {
  const references = nodes.flatMap(referenceOf);
  return [
    ...new Map(references.map((reference) => [`${reference.kind} ${reference.id}`, reference])).values(),
  ];
}

function referenceOf(node: Expression): readonly FormulaReference[] {
  if (node.kind !== 'call' || entryOf(node.name)?.kind !== 'reference') return [];
  const id = idOf(node);
  return id === undefined ? [] : [{ kind: referenceKindOf(node.name), id }];
}
