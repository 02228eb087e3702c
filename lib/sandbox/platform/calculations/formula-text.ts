import type { Column, ColumnType } from '../records/datasets.ts';
import { type Random, randomFor } from '../records/random.ts';
import { type Calculation, hasDataset } from './calculation.ts';

export type FormulaSource = {
  readonly seed: number;
  readonly calculation: Pick<Calculation, 'sequence' | 'status' | 'variable' | 'references' | 'links'>;
  readonly columns: readonly Column[] | undefined;
};

/** The text of a formula as people write them; of an INVALID one it does not parse, or names a missing column. */
export function formulaText({ seed, calculation, columns }: FormulaSource): string {
  const random = randomFor(seed, 'formula', calculation.sequence);
  if (calculation.variable) return random.pick(CONSTANTS);
  const picker = columnPicker(random, columns ?? []);
  const [reference] = calculation.references;
  if (columns === undefined && hasDataset(calculation)) return random.pick(FORMULAS)(picker, random);
  const isBroken = calculation.status === 'INVALID';
  if (reference !== undefined) {
    const name = reference.kind === 'variable' ? 'SERVICE_VARIABLE' : 'SERVICE_BEAST_MODE';
    return `${name}(${reference.id}) / NULLIF(SUM(${isBroken ? GONE_COLUMN : picker.number()}), 0)`;
  }
  if (isBroken) return random.pick(columns === undefined ? UNPARSABLE : BROKEN)(picker, random);
  return random.pick(columns === undefined ? FREE : FORMULAS)(picker, random);
}

type Columns = { text(): string; number(): string; date(): string };
type Draw = (columns: Columns, random: Random) => string;

const DATES: readonly ColumnType[] = ['DATE', 'DATETIME'];
const NUMBERS: readonly ColumnType[] = ['LONG', 'DECIMAL', 'DOUBLE'];

function columnPicker(random: Random, columns: readonly Column[]): Columns {
  const pick = (types: readonly ColumnType[], fallback: string) => {
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

const FREE: readonly Draw[] = [
  () => 'CURRENT_DATE()',
  (_, random) => `${1 + random.below(500)} * 1.19`,
  () => "DATE_FORMAT(NOW(), '%Y-%m-%d')",
  () => "CASE WHEN DAYOFWEEK(CURDATE()) IN (1, 7) THEN 'weekend' ELSE 'weekday' END",
];

const UNPARSABLE: readonly Draw[] = [
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

const CONSTANTS = ["'EMEA'", '10', '0.075', "'2025-01-01'", "'€'"] as const;
