import type { MeasureName, ProblemName } from '../lib/base/aws/index.ts';

type LineOptions = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The stack's name. */
  readonly service: string;
  readonly place?: string;
  /** The same sums by job type. */
  readonly byType?: Readonly<Record<string, object>>;
};

/** A log line with sums of measures, whose fields queries in Logs Insights read. */
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
 * A log line about a problem. The template's metric filters, one for each severity, count these lines. If a problem
 * has a threshold, they count only lines whose `value` is above it. The dimension of the metric is `problem`.
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
 * Writes a log line. It does not use `console`, since Lambda's runtime replaces those methods: they would add a
 * prefix, or wrap the line in another object.
 */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
