import { resourcesOf, type Template } from '../../local-aws/stack/template.ts';
import { at, type FilterProperties, matches } from '../metric-filter.ts';

/** The data that alarms evaluate. */
export type Watched = {
  /** Lines of the logs, each with the logical id of the function that wrote it. */
  readonly lines: readonly { readonly by: string; readonly line: object }[];
  /** The value of an SQS metric of the queue with this logical id, at a time. */
  readonly ofQueue: (metric: string, queue: string, atMs: number) => number;
};

type MetricOfQueue = {
  readonly MetricName: string;
  readonly Dimensions: readonly [{ readonly Value: { readonly 'Fn::GetAtt': readonly [string, string] } }];
};

type Alarm = Partial<MetricOfQueue> & {
  readonly ComparisonOperator: string;
  readonly TreatMissingData: string;
  readonly Threshold: number;
  readonly EvaluationPeriods: number;
  readonly DatapointsToAlarm: number;
  readonly Metrics?: readonly {
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: MetricOfQueue };
  }[];
};

/** The period of all alarms in the template. */
const PERIOD_MS = 300_000;

const SELECT =
  /^SELECT SUM\((\w+)\) FROM SCHEMA\("([^"]+)", problem\) GROUP BY problem ORDER BY SUM\(\) DESC$/;

/** The alarms of the template that are red at a time, with their problems, such as `Page: Unauthorized` or `OldestJob`. */
export function redAt(template: Template, watched: Watched, atMs: number): readonly string[] {
  const points = pointsOf(template, watched.lines);
  const periodOf = (ms: number) => Math.floor(ms / PERIOD_MS);
  return resourcesOf(template, 'AWS::CloudWatch::Alarm').flatMap(([id, { Properties }]) => {
    const alarm = Properties as unknown as Alarm;
    const { ComparisonOperator, TreatMissingData, EvaluationPeriods: periods, Metrics = [] } = alarm;
    if (ComparisonOperator !== 'GreaterThanThreshold' || TreatMissingData !== 'notBreaching')
      throw new Error(`${id}: expected an alarm above a threshold, without data none`);
    const name = id.replace(/^Alarms|[0-9A-F]{8}$/g, '');
    const isAbove = (values: readonly number[]) =>
      values.filter((value) => value > alarm.Threshold).length >= alarm.DatapointsToAlarm;
    const [, metric, namespace] = SELECT.exec(Metrics[0]?.Expression ?? '') ?? [];
    if (metric === undefined) {
      const ofQueues = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
      const values = [...ofQueues, ...(Metrics.length === 0 ? [alarm as MetricOfQueue] : [])].map(
        ({ MetricName, Dimensions: [{ Value }] }) =>
          watched.ofQueue(MetricName, Value['Fn::GetAtt'][0], atMs),
      );
      return isAbove([Math.max(...values)]) ? [name] : [];
    }
    const recent = points
      .filter((each) => each.metric === metric && each.namespace === namespace)
      .filter((each) => each.atMs <= atMs && periodOf(each.atMs) > periodOf(atMs) - periods);
    return [...Map.groupBy(recent, ({ problem }) => problem)].flatMap(([problem, all]) => {
      const sums = Map.groupBy(all, (each) => periodOf(each.atMs)).values();
      return isAbove([...sums].map(({ length }) => length)) ? [`${name}: ${problem}`] : [];
    });
  });
}

/** The counts of the metric filters over these lines. Each filter counts the lines of its own log group. */
function pointsOf(template: Template, lines: Watched['lines']) {
  const groupOf = (id: string) => at(template.Resources, `$.${id}.Properties.LoggingConfig.LogGroup.Ref`);
  return resourcesOf(template, 'AWS::Logs::MetricFilter').flatMap(([, { Properties }]) => {
    const { FilterPattern, LogGroupName, MetricTransformations } = Properties as unknown as FilterProperties;
    const [{ MetricName: metric, MetricNamespace: namespace, Dimensions }] = MetricTransformations;
    return lines
      .filter(({ by, line }) => groupOf(by) === LogGroupName.Ref && matches(FilterPattern, line))
      .map(({ line }) => ({
        ...{ metric, namespace, problem: String(at(line, Dimensions?.[0].Value ?? '')) },
        atMs: Date.parse(String(at(line, '$.timestamp') ?? at(line, '$.time'))),
      }));
  });
}
