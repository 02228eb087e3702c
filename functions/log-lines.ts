import type { MeasureName, ProblemName } from '../lib/base/aws/index.ts';

type LineOptions = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The stack's name. */
  readonly service: string;
  readonly place?: string;
  /** The same sums by type of job. */
  readonly byType?: Readonly<Record<string, object>>;
};

/** A log line of sums. Queries in Logs Insights read its fields. */
export const measuredLine = (
  sums: Readonly<Partial<Record<MeasureName, number>>>,
  { at, service, place, byType = {} }: LineOptions,
): string =>
  JSON.stringify({
    level: 'info',
    timestamp: new Date(at).toISOString(),
    msg: 'measured',
    service,
    place,
    ...sums,
    ...(Object.keys(byType).length === 0 ? {} : { byType }),
  });

/**
 * A log line of a problem. The template's metric filters, one for each severity, count these lines. Of a problem with a
 * threshold, they count only lines whose `value` is above the threshold. The dimension of the metric is `problem`.
 */
export const problemLine = (
  problem: ProblemName | `${'SnapshotMissing' | 'FunctionMissing' | 'Throttling'}-${string}`,
  value: number,
  { at, service }: Pick<LineOptions, 'at' | 'service'>,
): string =>
  JSON.stringify({
    level: 'warn',
    timestamp: new Date(at).toISOString(),
    msg: 'problem',
    service,
    problem,
    value,
  });

/**
 * Writes a log line. It does not use `console`, since Lambda's runtime replaces those methods: they would add a prefix, or
 * wrap the line in another object.
 */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
