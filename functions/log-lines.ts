import type { MeasureName, ProblemName } from '../lib/base/index.ts';

type LineOptions = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The stack's name. */
  readonly service: string;
  readonly place?: string;
  /** The same sums again by the type of job. */
  readonly byType?: Readonly<Record<string, object>>;
};

/** Sums as a line of the log, whose fields queries find. */
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
 * What somebody may have to look into. Metric filters, which the template has for each severity, count the lines of those
 * whose `value` is above their limit, if they have one. The metric's dimension is `problem`.
 */
export const problemLine = (
  problem: ProblemName | `${'SnapshotMissing' | 'Throttling'}-${string}`,
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
 * Writes a line of the log. Not by `console`, whose methods Lambda's runtime replaces: in its text format each line would
 * get a prefix, in its JSON format it would become a text within another object.
 */
export function writeLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
