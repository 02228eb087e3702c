import { InvalidArgumentError } from 'commander';
import { readText } from './options.ts';
import type { Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

/** Gathers an option that may be given again. */
export const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

type Where = {
  readonly field: string;
  readonly operator: string;
  readonly value: string[];
  readonly not?: boolean;
};

/** `FIELD:OPERATOR:VALUE` as a filter; `!OPERATOR` negates it, IN takes its values between commas, IS_NULL takes none. */
export function whereOption(text: string, before: readonly Where[] = []): readonly Where[] {
  const [, field, not, operator, value] = /^([^:]+):(!?)([A-Za-z_]+)(?::(.*))?$/s.exec(text) ?? [];
  if (field === undefined || operator === undefined) {
    throw new InvalidArgumentError(
      `Expected FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000, got ${JSON.stringify(text)}.`,
    );
  }
  const values = value === undefined ? [] : operator.toUpperCase() === 'IN' ? value.split(',') : [value];
  return [
    ...before,
    { field, operator: operator.toUpperCase(), value: values, ...(not === '!' ? { not: true } : {}) },
  ];
}

/** A date or a date and time, as ISO 8601 text in UTC. */
export function dateOption(text: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InvalidArgumentError(
      `Expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got ${JSON.stringify(text)}.`,
    );
  return new Date(ms).toISOString();
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
