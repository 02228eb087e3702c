import { METRIC_NAMESPACE, type MeasureName, metricNames } from '../lib/base/index.ts';

type LineOptions = {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The stack's name: the dimension that every metric has. */
  readonly service: string;
  readonly place?: string;
  /** The other fields that are dimensions. */
  readonly dimensions?: readonly 'place'[];
  /** The same sums again by the type of job: only fields. */
  readonly byType?: Readonly<Record<string, object>>;
};

/**
 * Sums as a line of the log. CloudWatch makes metrics of those that an alarm needs, and of no others: what it makes none
 * of is a field all the same, which queries find. The form is CloudWatch's embedded metric format.
 */
export function measuredLine(
  sums: Readonly<Partial<Record<MeasureName, number>>>,
  { at, service, place, dimensions = [], byType = {} }: LineOptions,
): string {
  const metrics = metricNames.filter((name) => sums[name] !== undefined);
  const directive = {
    Namespace: METRIC_NAMESPACE,
    Dimensions: [['service', ...dimensions]],
    Metrics: metrics.map((Name) => ({ Name, Unit: 'Count' })),
  };
  return JSON.stringify({
    ...(metrics.length === 0 ? {} : { _aws: { Timestamp: at, CloudWatchMetrics: [directive] } }),
    level: 'info',
    timestamp: new Date(at).toISOString(),
    msg: 'measured',
    service,
    ...(place === undefined ? {} : { place }),
    ...sums,
    ...(Object.keys(byType).length === 0 ? {} : { byType }),
  });
}
