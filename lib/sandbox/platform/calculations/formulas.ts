import { printJson } from '../../../base/json/index.ts';
import { analyzeFormula, checkSum } from '../../../formula/index.ts';
import { assumptions } from '../assumptions.ts';
import type { Column, Dataset } from '../records/datasets.ts';
import { type Random, randomFor } from '../records/random.ts';
import {
  activeLinksOf,
  type Calculation,
  type CalculationTable,
  type Link,
  link,
  type Reference,
} from './calculation-table.ts';

type Formulas = ReturnType<typeof createFormulas>;

const MAX_CACHED_TYPES = 65_536;

/** Whether a calculation ever had a dataset; a deleted dataset counts. */
const hasDataset = ({ links }: Pick<Calculation, 'links'>): boolean =>
  links.some(({ resource }) => resource.type === 'DATA_SOURCE');

/**
 * Creates access to the formulas of all calculations. A formula that was never set is drawn and analyzed only when
 * needed.
 */
export function createFormulas(seed: number, datasets: readonly Dataset[]) {
  const types = new Map<string, string>();
  const columnsOf = ({ datasetIndex }: Calculation) =>
    datasetIndex === undefined ? undefined : datasets[datasetIndex]?.columns;
  const expressionOf = (calculation: Calculation) =>
    calculation.expression ?? drawFormula({ seed, calculation, columns: columnsOf(calculation) });

  const factsOf = (calculation: Calculation, expression: string) => {
    // With a deleted dataset, every column is missing; without any dataset, no column can be missing.
    return formulaFacts(expression, columnsOf(calculation) ?? (hasDataset(calculation) ? [] : undefined));
  };

  return {
    expressionOf,
    factsOf,
    dataTypeOf(calculation: Calculation): string {
      const expression = expressionOf(calculation);
      const shape = shapeOf(expression, columnsOf(calculation));
      const dataType = types.get(shape) ?? factsOf(calculation, expression).dataType;
      if (types.size >= MAX_CACHED_TYPES) types.clear();
      types.set(shape, dataType);
      return dataType;
    },
    /** The JSON of the whole record. */
    recordOf(calculation: Calculation): string {
      const expression = expressionOf(calculation);
      return printCalculation(
        { ...calculation, links: [...calculation.links, ...referenceLinks(calculation)] },
        expression,
        factsOf(calculation, expression),
        activeLinksOf(calculation),
      );
    },
  };
}

/** A formula with its columns' types instead of their names: formulas of the same shape have the same data type. */
function shapeOf(expression: string, columns: readonly Column[] | undefined): string {
  return expression.replaceAll(
    /`([^`]*)`/g,
    (_, name) => `\`${columns?.find((column) => column.name === name)?.type}\``,
  );
}

/** Stores a formula, and the references and the status that it leads to. Returns the JSON of the whole record. */
export function updateFormula(
  table: CalculationTable,
  formulas: Formulas,
  request: {
    readonly id: string;
    readonly expression: string;
    /**
     * Whether to refuse a formula that does not parse or uses a column that the dataset lacks, instead of storing it.
     */
    readonly strict: boolean;
  },
):
  | { readonly kind: 'updated'; readonly record: string }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'refused'; readonly message: string } {
  const before = table.get(request.id);
  if (before === undefined) return { kind: 'not-found' };
  const facts = formulas.factsOf(before, request.expression);
  if (request.strict && facts.objection !== undefined) return { kind: 'refused', message: facts.objection };
  const references = checkedReferences(table, request.id, facts);
  const areAllValid = references.every(({ valid }) => valid === 'VALID');
  const after = table.change(request.id, {
    expression: request.expression,
    references,
    status: areAllValid ? facts.status : 'INVALID',
  });
  return after === undefined ? { kind: 'not-found' } : { kind: 'updated', record: formulas.recordOf(after) };
}

/** The links to what the formula refers to: the whole record has these links, a search row does not. */
const referenceLinks = ({ references }: Calculation): readonly Link[] =>
  references.map(({ id, valid }) => link('FUNCTION_TEMPLATE', id, false, valid));

/** Checks references: they may nest, but must not form a cycle. */
function checkedReferences(
  table: CalculationTable,
  id: string,
  { references }: FormulaFacts,
): readonly Reference[] {
  return references.map((reference) => {
    if (table.get(reference.id) === undefined) return { ...reference, valid: 'ILLEGAL_REFERENCE' };
    return { ...reference, valid: leadsTo(table, reference.id, id) ? 'INCOMPATIBLE_LINK' : 'VALID' };
  });
}

/** Whether the references of calculation `from` lead to calculation `id`, directly or indirectly. */
function leadsTo(table: CalculationTable, from: string, id: string): boolean {
  const reached = new Set([from]);
  for (const each of reached) for (const next of table.get(each)?.references ?? []) reached.add(next.id);
  return reached.has(id);
}

type FormulaFacts = ReturnType<typeof formulaFacts>;

/**
 * What the platform reports about a formula. `columns`: the columns of its dataset; if undefined, unknown columns are
 * not an error.
 */
function formulaFacts(expression: string, columns: readonly Column[] | undefined) {
  const types = new Map(columns?.map(({ name, type }) => [name, type]));
  const analysis = analyzeFormula(expression, types);
  const missing = columns === undefined ? [] : analysis.columns.filter((name) => !types.has(name));
  const objection =
    analysis.status === 'INVALID'
      ? `the formula does not parse: ${analysis.faults[0]?.message ?? ''}`
      : missing.length > 0
        ? `the dataset has no column ${missing.map((name) => `\`${name}\``).join(', ')}`
        : undefined;
  const { functions, columnPositions, aggregated, analytic, nonAggregatedColumns, references } = analysis;
  return {
    status: objection === undefined ? ('VALID' as const) : ('INVALID' as const),
    dataType: analysis.status === 'VALID' ? analysis.dataType : assumptions.dataTypeOfInvalid,
    checkSum: checkSum(expression),
    functions,
    columnPositions,
    aggregated,
    analytic,
    nonAggregatedColumns,
    references,
    /** Why an update with `strict` refuses the formula; undefined if it is valid. */
    objection,
  };
}

/** The JSON of a whole calculation: every field that the platform returns, in its order, with all digits of ids. */
function printCalculation(
  calculation: Calculation,
  expression: string,
  facts: FormulaFacts,
  activeLinks: unknown,
): string {
  const { id, name, owner, locked, global, links, legacyId, lastModified, created, status } = calculation;
  const { aggregated, analytic, nonAggregatedColumns, dataType, columnPositions, functions } = facts;
  const { cacheWindow, archived, hidden, variable } = calculation;
  return printJson({
    id: BigInt(id),
    name,
    owner,
    locked,
    global,
    expression,
    checkSum: facts.checkSum,
    links,
    legacyId,
    lastModified,
    created,
    aggregated,
    analytic,
    nonAggregatedColumns,
    dataType,
    status,
    cacheWindow,
    columnPositions,
    functions,
    functionTemplateDependencies: calculation.references.map((reference) => BigInt(reference.id)),
    archived,
    hidden,
    variable,
    activeLinks,
  });
}

/** Draws a realistic formula. One that is INVALID does not parse, or uses a missing column. */
function drawFormula({
  seed,
  calculation,
  columns,
}: {
  readonly seed: number;
  readonly calculation: Pick<Calculation, 'sequence' | 'status' | 'variable' | 'references' | 'links'>;
  readonly columns: readonly Column[] | undefined;
}): string {
  const random = randomFor(seed, 'formula', calculation.sequence);
  if (calculation.variable) return random.pick(VARIABLE_VALUES);
  const picker = columnPicker(random, columns ?? []);
  const [reference] = calculation.references;
  if (columns === undefined && hasDataset(calculation)) return random.pick(FORMULAS)(picker, random);
  const isBroken = calculation.status === 'INVALID';
  if (reference !== undefined) {
    const name = reference.kind === 'variable' ? 'SERVICE_VARIABLE' : 'SERVICE_BEAST_MODE';
    return `${name}(${reference.id}) / NULLIF(SUM(${isBroken ? GONE_COLUMN : picker.number()}), 0)`;
  }
  if (isBroken) return random.pick(columns === undefined ? BROKEN_WITHOUT_COLUMNS : BROKEN)(picker, random);
  return random.pick(columns === undefined ? WITHOUT_COLUMNS : FORMULAS)(picker, random);
}

type Draw = (columns: { text(): string; number(): string; date(): string }, random: Random) => string;

const DATES: readonly Column['type'][] = ['DATE', 'DATETIME'];
const NUMBERS: readonly Column['type'][] = ['LONG', 'DECIMAL', 'DOUBLE'];

function columnPicker(
  random: Random,
  columns: readonly Column[],
): { text(): string; number(): string; date(): string } {
  const pick = (types: readonly Column['type'][], fallback: string) => {
    const fitting = columns.filter(({ type }) => types.includes(type));
    return `\`${fitting.length === 0 ? fallback : random.pick(fitting).name}\``;
  };
  return {
    text: () => pick(['STRING'], 'Region'),
    number: () => pick(NUMBERS, 'Amount'),
    date: () => pick(DATES, 'Order Date'),
  };
}

const FORMULAS: readonly Draw[] = [
  ({ number }) => `SUM(${number()})`,
  ({ number }) => `SUM(${number()}) - SUM(${number()})`,
  ({ number }) => `(SUM(${number()}) - SUM(${number()})) / NULLIF(SUM(${number()}), 0) * 100`,
  ({ text }) => `COUNT(DISTINCT ${text()})`,
  ({ number, text }) => `SUM(${number()}) / COUNT(DISTINCT ${text()})`,
  ({ number }) => `STDDEV_POP(${number()}) / AVG(${number()})`,
  ({ text }) => `APPROXIMATE_COUNT_DISTINCT(${text()})`,
  ({ number }) => `-- agreed with finance\nROUND(AVG(${number()}), 2) /* two places */`,
  ({ text, number }) => `SUM(CASE WHEN ${text()} = 'Closed Won' THEN ${number()} ELSE 0 END)`,
  ({ number }) =>
    `CASE WHEN ${number()} >= 1000 THEN 'Large' WHEN ${number()} >= 100 THEN 'Medium' ELSE 'Small' END`,
  ({ text }) => `CASE ${text()} WHEN 'DE' THEN 'Deutschland' WHEN 'FR' THEN 'France' ELSE 'Övriga' END`,
  ({ text, number }) => `CASE WHEN ${text()} IN ('A', 'B', 'C''s') AND ${number()} > -5 THEN 1 ELSE 0 END`,
  ({ text }) => `CASE WHEN ${text()} LIKE '%test%' OR ${text()} IS NULL THEN 'exclude' ELSE 'keep' END`,
  ({ text }) => `CASE WHEN NOT ${text()} LIKE 'Z%' AND ${text()} IS NOT NULL THEN ${text()} ELSE '—' END`,
  ({ date }) => `DATEDIFF(CURRENT_DATE(), ${date()})`,
  ({ date }) =>
    `CASE WHEN DateDiff(Current_Date(), ${date()}) <= 30 AND ${date()} < AddDate(Current_Date(), 1) THEN 1 ELSE 0 END`,
  ({ date }) => `DATE_ADD(${date()}, INTERVAL 3 MONTH)`,
  ({ date }) => `DATE_SUB(${date()}, INTERVAL 1 YEAR)`,
  ({ date }) => `CONCAT(YEAR(${date()}), '-Q', QUARTER(${date()}))`,
  ({ date }) => `DATE_FORMAT(${date()}, '%Y-%m')`,
  ({ date }) => `LAST_DAY(${date()})`,
  ({ date, number }) => `SUM(CASE WHEN YEAR(${date()}) = YEAR(CURDATE()) THEN ${number()} END)`,
  ({ text }) => `CONCAT(UPPER(LEFT(${text()}, 1)), LOWER(SUBSTRING(${text()}, 2)))`,
  ({ text }) => `TRIM(REPLACE(${text()}, '  ', ' '))`,
  ({ text }) => `IFNULL(${text()}, 'Unbekannt')`,
  ({ text }) => `LENGTH(${text()}) - INSTR(${text()}, '@')`,
  ({ text }) => `COALESCE(${text()}, ${text()}, 'n/a')`,
  ({ number }) => `${number()} * (1 + ${number()} / 100)`,
  ({ number }) => `-ABS(${number()}) + MOD(CEILING(${number()}), 7)`,
  ({ number }) => `POWER(1 + ${number()} / NULLIF(${number()}, 0), 12) - 1`,
  ({ number, text }) => `SUM(SUM(${number()})) OVER (PARTITION BY ${text()} ORDER BY ${text()})`,
  ({ number }) => `RANK() OVER (ORDER BY SUM(${number()}) DESC)`,
  ({ number, date }) => `SUM(${number()}) - LAG(SUM(${number()}), 1) OVER (ORDER BY ${date()})`,
  ({ number, text }) => `SUM(SUM(${number()}) FIXED (BY ${text()}))`,
  ({ number }) => `SUM(${number()}) / SUM(SUM(${number()}) FIXED ())`,
  ({ number, text, date }) => `AVG(SUM(${number()}) FIXED (ADD ${text()}, ${date()}))`,
  ({ number, text }) => `MAX(MAX(${number()}) FIXED (REMOVE ${text()}))`,
];

const WITHOUT_COLUMNS: readonly Draw[] = [
  () => 'CURRENT_DATE()',
  (_, random) => `${1 + random.below(500)} * 1.19`,
  () => "DATE_FORMAT(NOW(), '%Y-%m-%d')",
  () => "CASE WHEN DAYOFWEEK(CURDATE()) IN (1, 7) THEN 'weekend' ELSE 'weekday' END",
];

const BROKEN_WITHOUT_COLUMNS: readonly Draw[] = [
  () => 'SUM(1',
  () => "CASE WHEN DAYOFWEEK(CURDATE()) = 1 THEN 'x'",
  () => '100 * / 3',
];

const GONE_COLUMN = '`Column that was deleted`';

const BROKEN: readonly Draw[] = [
  ({ number }) => `SUM(${number()}`,
  ({ number }) => `SUM(${number()}) / `,
  ({ text }) => `CASE WHEN ${text()} = 'x' THEN 1`,
  () => `SUM(${GONE_COLUMN})`,
];

const VARIABLE_VALUES = ["'EMEA'", '10', '0.075', "'2025-01-01'", "'€'"] as const;
