import { InvalidArgumentError } from 'commander';
import { uuid } from '../json/inputs.ts';
import { readText } from './options.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Gathers an option that may be given again. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

/** Gathers ids of FileSets, in lower case, each once and in order: what is the same selection is told the same. */
export function filesetOption(text: string, before: readonly string[] = []): readonly string[] {
  if (!uuid.safeParse(text).success) {
    throw new InvalidArgumentError(
      `Expected a FileSet's id, a UUID (8-4-4-4-12 hex digits), got ${JSON.stringify(text)}.`,
    );
  }
  return [...new Set([...before, text.toLowerCase()])].sort();
}

type Where = {
  readonly field: string;
  readonly operator: string;
  readonly value: string[];
  readonly not?: boolean;
};

/** `FIELD:OPERATOR:VALUE` as a filter; `!OPERATOR` negates it, IN takes its values between commas, IS_NULL takes none. */
export function whereOption(text: string, before: readonly Where[] = []): readonly Where[] {
  const [, field, not, operator, value] = /^([^:]+):(!?)([A-Za-z_]+)(?::(.*))?$/s.exec(text) ?? [];
  const takesNone = operator?.toUpperCase() === 'IS_NULL';
  if (field === undefined || operator === undefined || (value !== undefined) === takesNone) {
    throw new InvalidArgumentError(
      `Expected FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000, or FIELD:IS_NULL, got ${JSON.stringify(text)}.`,
    );
  }
  const values = value === undefined ? [] : operator.toUpperCase() === 'IN' ? value.split(',') : [value];
  return [
    ...before,
    { field, operator: operator.toUpperCase(), value: values, ...(not === '!' ? { not: true } : {}) },
  ];
}

/** ISO 8601; a time needs its zone, or it would be another one on each machine. Date.parse alone takes far more. */
const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A date (its start in UTC) or a date and time with a zone, as ISO 8601 text in UTC. */
export function dateOption(text: string): string {
  const [, day] = DATE.exec(text) ?? [];
  const ms = day === undefined || !isDay(day) ? Number.NaN : Date.parse(text);
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(
      `Expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got ${JSON.stringify(text)}.`,
    );
  return new Date(ms).toISOString();
}

/** False for days that `Date.parse` takes for one of the next month, such as February 30. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** Ids given one by one or in a file, one a line; undefined if neither was given. */
export async function idsOf(
  given: readonly string[] | undefined,
  file: string | undefined,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<readonly string[] | undefined> {
  if (given !== undefined && file !== undefined)
    throw new UsageError('ids: expected them as options or in a file, got both');
  if (file === undefined) return given;
  const ids = (await readText(file, terminal))
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (ids.length === 0) throw new UsageError(`${file}: expected at least one id, one a line, got none`);
  return ids;
}
