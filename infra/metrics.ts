import { Duration } from 'aws-cdk-lib';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { METRIC_NAMESPACE, type MetricName } from '../lib/contract.ts';

/** The metrics that the functions of an instance report: sums over five minutes unless a period is given. */
export const ownMetrics =
  (serviceName: string) =>
  (metricName: MetricName, period = Duration.minutes(5), dimensions: Readonly<Record<string, string>> = {}) =>
    new Metric({
      namespace: METRIC_NAMESPACE,
      metricName,
      dimensionsMap: { service: serviceName, ...dimensions },
      statistic: Stats.SUM,
      period,
    });

export type OwnMetrics = ReturnType<typeof ownMetrics>;
