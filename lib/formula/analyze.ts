import { createHash } from 'node:crypto';
import { nearestName } from '../base/index.ts';
import { FormulaSyntaxError, parseTokens, quoteColumn } from './grammar.ts';
import {
  CLOCK_UNITS,
  type ColumnTypes,
  catalog,
  DAY_UNITS,
  type DataType,
  dataTypeOf,
  entryOf,
  type FunctionEntry,
  INTERVAL_FUNCTIONS,
  wordSet,
} from './infer-data-type.ts';
import {
  type Call,
  type Column,
  type Expression,
  type Fixed,
  type Operator,
  precedence,
  precedenceOf,
} from './syntax.ts';
import { type FormulaFault, type Objection, positionOf, shown, tokenize } from './tokens.ts';

/** What the platform reports about a formula, and further facts. For an INVALID formula, all lists are empty. */
export type FormulaAnalysis =
  | (FormulaFacts & {
      readonly status: 'VALID';
      readonly dataType: DataType;
      /** What the platform may refuse, such as an undocumented function: at most 20. */
      readonly warnings: readonly FormulaFault[];
    })
  | (FormulaFacts & { readonly status: 'INVALID'; readonly faults: readonly FormulaFault[] });

/**
 * The facts about a formula that parses. `columnName` is as written, in backticks; `columnPosition` is the
 * offset of its first backtick in UTF-16 code units.
 */
type FormulaFacts = {
  /** Unique function names in upper case, and SERVICE_OP_… for arithmetic; sorted. */
  readonly functions: readonly string[];
  /** Every occurrence of a column in backticks, in the order of the text. */
  readonly columnPositions: readonly { readonly columnName: string; readonly columnPosition: number }[];
  /** Whether it contains an aggregate. */
  readonly aggregated: boolean;
  /** Whether it contains a window function, or an aggregate OVER a window. */
  readonly analytic: boolean;
  /** Unique names, in backticks, of columns used outside any aggregate, in the order of their first use. */
  readonly nonAggregatedColumns: readonly string[];
  /** Unique names without backticks, in the order of their first use. */
  readonly columns: readonly string[];
  /** The calculations and variables that the formula refers to, each once, in the order of their first use. */
  readonly references: readonly FormulaReference[];
};

/** A reference to another formula by its id: any number of decimal digits, without leading zeros. */
type FormulaReference = { readonly kind: 'calculation' | 'variable'; readonly id: string };

/**
 * Parses a formula and reports what the platform would. Never throws. `columnTypes` makes `dataType` more precise;
 * default: no type is known.
 *
 * ```ts
 * analyzeFormula('SUM(`Sales`)', new Map([['Sales', 'DECIMAL']])).dataType; // 'DECIMAL'
 * ```
 */
export const analyzeFormula = (text: string, columnTypes?: ColumnTypes): FormulaAnalysis =>
  analyzeParsed(text, parseFormula(text), columnTypes);

/** Analyzes a parsed formula, as `analyzeFormula` does. */
export function analyzeParsed(
  text: string,
  parsed: ParsedFormula,
  columnTypes?: ColumnTypes,
): FormulaAnalysis {
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
 * The analysis of a formula, with its faults and warnings as lines `WHERE:LINE:COLUMN: message`. `isStrict`:
 * warnings count as faults. Never throws.
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

function factsOf(found: readonly NodeInContext[], text: string): FormulaFacts {
  const nodes = found.map(({ node }) => node);
  const columns = found.filter(isColumn);
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

const isColumn = (context: NodeInContext): context is NodeInContext & { readonly node: Column } =>
  context.node.kind === 'column';

const isAnalytic = (node: Expression): boolean =>
  node.kind === 'window' || (node.kind === 'call' && entryOf(node.name)?.kind === 'window');

function functionsOf(node: Expression): readonly string[] {
  if (node.kind === 'operation') return node.rest.flatMap(({ operator }) => arithmetic.get(operator) ?? []);
  return node.kind === 'call' && entryOf(node.name)?.kind !== 'reference' ? [node.name] : [];
}

// (assumed) The notes list four operators. MySQL calls `%` a synonym of MOD, and DIV divides.
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

/** What a function of kind `reference` refers to, judged by the function's name. */
const referenceKindOf = (name: string): 'calculation' | 'variable' =>
  name.endsWith('VARIABLE') ? 'variable' : 'calculation';

function referenceOf(node: Expression): readonly FormulaReference[] {
  if (node.kind !== 'call' || entryOf(node.name)?.kind !== 'reference') return [];
  const id = idOf(node);
  return id === undefined ? [] : [{ kind: referenceKindOf(node.name), id }];
}

/**
 * Checks what the grammar cannot express, in the order of the text. A missing name or argument is a fault. What the
 * platform may refuse is a warning: functions, their arguments, and FIXED, OVER and INTERVAL in unusual positions.
 */
function* check(formula: Expression): Generator<Objection & { isFault: boolean }, void, undefined> {
  for (const context of walk(formula)) {
    const { offset } = context.node;
    const missing = missingIn(context.node);
    const message = missing ?? warningOf(context);
    if (message !== undefined) yield { offset, message, isFault: missing !== undefined };
  }
}

function missingIn(node: Expression): string | undefined {
  if (node.kind === 'column' && node.name === '') return 'Expected a column name between the backticks.';
  if (node.kind !== 'call') return undefined;
  const entry = entryOf(node.name);
  // In `SUBSTRING(a FROM 2)`, one argument has several values.
  const isShort =
    entry !== undefined && node.args.length < entry.minArgs && node.args.at(0)?.kind !== 'phrase';
  return isShort ? argumentsOf(node, entry) : undefined;
}

function warningOf(context: NodeInContext): string | undefined {
  const { node } = context;
  switch (node.kind) {
    case 'call':
      return warningOfCall(node, context.parent);
    case 'fixed':
      return warningOfFixed(node, context.inAggregate);
    case 'interval':
      return warningOfInterval(node.unit, context);
    default:
      return undefined;
  }
}

function warningOfCall(call: Call, parent: Expression | undefined): string | undefined {
  const entry = entryOf(call.name);
  if (!entry?.isDocumented) return unknownFunction(call.name);
  return (
    warningOfArguments(call, entry) ??
    warningOfWindow(call, entry, parent?.kind === 'window' && parent.call === call)
  );
}

function unknownFunction(name: string): string {
  const nearest = nearestName(name, catalog.keys());
  return `The platform may not have a function ${shown(name)}${nearest === undefined ? '.' : `: did you mean ${nearest}?`}`;
}

/** The aggregates that allow DISTINCT. */
const DISTINCT_FUNCTIONS: ReadonlySet<string> = wordSet('COUNT SUM');

function warningOfArguments(call: Call, entry: FunctionEntry): string | undefined {
  const { name, args, distinct } = call;
  const [first, second] = args;
  // MySQL counts the distinct combinations of several values.
  if (args.length > entry.maxArgs && !(name === 'COUNT' && distinct)) return argumentsOf(call, entry);
  if (distinct && !DISTINCT_FUNCTIONS.has(name)) return `${name} may not support DISTINCT.`;
  if (first?.kind === 'star' && (name !== 'COUNT' || distinct)) return `${name} does not take "*" here.`;
  if (entry.kind === 'reference' && idOf(call) === undefined)
    return `${name} takes the numeric id of a ${referenceKindOf(name)}.`;
  if (
    name === 'HLL_SKETCH_INIT' &&
    second?.kind === 'number' &&
    !(Number(second.source) >= 4 && Number(second.source) <= 21)
  )
    return `${name} takes a precision from 4 to 21, but got ${shown(second.source)}.`;
  return undefined;
}

/** The id in a reference, as decimal digits without leading zeros; undefined if it is invalid. */
function idOf({ args: [id] }: Call): string | undefined {
  const digits = id?.kind === 'number' ? id.source : id?.kind === 'text' ? id.value : '';
  return /^\d+$/.test(digits) ? digits.replace(/^0+(?=\d)/, '') : undefined;
}

function argumentsOf({ name, args }: Call, { minArgs, maxArgs }: FunctionEntry): string {
  const plural = (count: number) => `argument${count === 1 ? '' : 's'}`;
  const count =
    maxArgs === Number.POSITIVE_INFINITY
      ? `at least ${minArgs} ${plural(minArgs)}`
      : `${minArgs === maxArgs ? '' : `${minArgs} to `}${maxArgs} ${plural(maxArgs)}`;
  return `${name} takes ${count}, but got ${args.length}.`;
}

function warningOfWindow(call: Call, entry: FunctionEntry, hasOver: boolean): string | undefined {
  if (entry.kind === 'window' && !hasOver) return `Expected OVER (…) after ${call.name}.`;
  const mayHaveOver = entry.kind === 'window' || entry.kind === 'aggregate';
  return hasOver && !mayHaveOver ? `${call.name} does not take OVER.` : undefined;
}

function warningOfFixed({ call, columns, filtered = [] }: Fixed, inAggregate: boolean): string | undefined {
  // The column may itself be another calculation.
  if (![...columns, ...filtered].every(({ kind }) => kind === 'column' || kind === 'call'))
    return 'FIXED takes columns after BY, ADD, REMOVE, ALLOW and DENY.';
  if (!isAggregate(call)) return `Expected an aggregate such as SUM before FIXED, but got ${call.name}.`;
  return inAggregate ? undefined : 'FIXED is allowed only inside an aggregate, as in SUM(SUM(…) FIXED (…)).';
}

function warningOfInterval(unit: string, { node, parent }: NodeInContext): string | undefined {
  if (!DAY_UNITS.has(unit) && !CLOCK_UNITS.has(unit)) {
    const nearest = nearestName(unit, [...DAY_UNITS, ...CLOCK_UNITS]);
    return `There is no unit ${shown(unit)}${nearest === undefined ? '.' : `: did you mean ${nearest}?`}`;
  }
  const isAllowed =
    parent?.kind === 'call'
      ? INTERVAL_FUNCTIONS.has(parent.name) && parent.args[1] === node
      : parent?.kind === 'operation' && precedenceOf(parent) === precedence.sum;
  return isAllowed
    ? undefined
    : `INTERVAL is allowed only next to + or -, or as the second argument of ${[...INTERVAL_FUNCTIONS].join(', ')}.`;
}

/** A formula as a tree, with at most 20 warnings about what the platform may refuse; or 1 to 20 faults. */
export type ParsedFormula =
  | { readonly kind: 'parsed'; readonly formula: Expression; readonly warnings: readonly FormulaFault[] }
  | { readonly kind: 'failed'; readonly faults: readonly FormulaFault[] };

/** Maximum faults to report for one formula; more would not help. */
const MAX_FAULTS = 20;

/** Maximum length of a formula, in UTF-16 code units. At about ten times this length, the lexer's patterns fail. */
const MAX_LENGTH = 1_000_000;

/**
 * Parses a formula. Never throws. All reported faults are of one kind, in the order of the text: unknown characters
 * and quotes that are not closed; if there are no such faults, the first token that breaks the grammar; otherwise
 * columns without a name and functions without their arguments.
 *
 * ```ts
 * const parsed = parseFormula('SUM(`Sales`'); // { kind: 'failed', faults: [{ line: 1, column: 12, … }] }
 * ```
 */
export function parseFormula(text: string): ParsedFormula {
  const failed = (objections: readonly Objection[]): ParsedFormula => ({
    kind: 'failed',
    faults: faultsAt(text, objections),
  });
  if (text.length > MAX_LENGTH)
    return failed([{ offset: MAX_LENGTH, message: `Expected at most ${MAX_LENGTH} characters.` }]);
  const { tokens, faults, warnings } = tokenize(text);
  if (faults.length > 0) return failed(faults);
  try {
    const read = parseTokens(tokens, text);
    const found = [...check(read.formula)];
    const missing = found.filter(({ isFault }) => isFault);
    if (missing.length > 0) return failed(missing);
    const doubts = faultsAt(text, [...warnings, ...read.warnings, ...found]);
    return { kind: 'parsed', formula: read.formula, warnings: doubts };
  } catch (error) {
    if (error instanceof FormulaSyntaxError) return failed([error.objection]);
    throw error;
  }
}

/** A fault at an offset of the formula `text`. */
function faultAt(text: string, offset: number, message: string): FormulaFault {
  return { message, offset, ...positionOf(text, offset) };
}

function faultsAt(text: string, objections: readonly Objection[]): readonly FormulaFault[] {
  return objections
    .toSorted((a, b) => a.offset - b.offset)
    .slice(0, MAX_FAULTS)
    .map(({ offset, message }) => faultAt(text, offset, message));
}

/** A node of a formula with its parent node, and whether it is inside an aggregate's parentheses. */
type NodeInContext = {
  readonly node: Expression;
  readonly parent: Expression | undefined;
  readonly inAggregate: boolean;
};

/** Yields every node of a formula, in the order in which the nodes start in its text. */
function* walk(formula: Expression): Generator<NodeInContext, void, undefined> {
  const pending: NodeInContext[] = [{ node: formula, parent: undefined, inAggregate: false }];
  for (let context = pending.pop(); context !== undefined; context = pending.pop()) {
    yield context;
    const { node: parent } = context;
    const inAggregate = context.inAggregate || isAggregate(parent);
    for (const node of childrenOf(parent).toReversed()) pending.push({ node, parent, inAggregate });
  }
}

/** Whether a node is a call of an aggregate. */
function isAggregate(node: Expression): boolean {
  return node.kind === 'call' && entryOf(node.name)?.kind === 'aggregate';
}

/** The direct children of a node, in the order of the text. */
function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'column':
    case 'number':
    case 'text':
    case 'constant':
    case 'star':
    case 'word':
      return [];
    case 'negation':
    case 'not':
      return [node.operand];
    case 'operation':
      return [node.first, ...node.rest.map(({ operand }) => operand)];
    case 'in':
      return [node.operand, ...node.list];
    case 'like':
      return [node.operand, node.pattern];
    case 'between':
      return [node.operand, node.low, node.high];
    case 'case':
      return [
        node.subject,
        ...node.branches.flatMap(({ when, result }) => [when, result]),
        node.otherwise,
      ].filter((part) => part !== undefined);
    case 'interval':
      return [node.amount];
    case 'call':
      return node.args;
    case 'fixed':
      return [node.call, ...node.columns, ...(node.filtered ?? [])];
    case 'window':
      return [node.call, ...node.partitionBy, ...node.orderBy, ...(node.frame?.parts ?? [])];
    case 'phrase':
      return node.parts;
    default:
      return node satisfies never;
  }
}

/** The platform's `checkSum` of a formula: SHA-1 of its UTF-8 bytes, in lower-case hex. Source: the platform's API. */
export function checkSum(expression: string): string {
  return createHash('sha1').update(expression, 'utf8').digest('hex');
}
