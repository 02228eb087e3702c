import { at, largestOf, type Properties, sizeOf } from './template-size.ts';

/** A limit of AWS that a configuration can reach, on the resources of one type. */
export type Limit = {
  readonly type: string;
  /** What is limited, and its unit. */
  readonly what: string;
  readonly most: number;
  readonly sizeIn: (properties: Properties) => number;
  /** What the user can do. */
  readonly remedy: string;
};

/**
 * All limits of resources that a configuration can reach. Sources: "Quotas" in the guides of Lambda and EventBridge,
 * and the API references of PutRule, PutTargets and PutMetricAlarm, as of 2026-11-22.
 */
export const limits: readonly Limit[] = [
  {
    type: 'AWS::Lambda::Function',
    what: 'bytes of environment variables',
    most: 4_096,
    sizeIn: (properties) => sizeOf(at(properties, 'Environment', 'Variables')),
    remedy: 'shorten allow, or the lists of the schedules without a cron',
  },
  {
    type: 'AWS::Events::Rule',
    what: 'characters of event pattern',
    most: 2_048,
    sizeIn: ({ EventPattern }) => sizeOf(EventPattern),
    remedy: 'make two rules of it, or match less exactly',
  },
  {
    type: 'AWS::Events::Rule',
    what: 'characters of input template',
    most: 8_192,
    sizeIn: ({ Targets }) =>
      largestOf(Targets, (target) => sizeOf(at(target, 'InputTransformer', 'InputTemplate'))),
    remedy: 'shorten inputVariables: a function can read what is constant elsewhere',
  },
  {
    type: 'AWS::CloudWatch::Alarm',
    what: 'characters of description',
    most: 1_024,
    sizeIn: ({ AlarmDescription }) => sizeOf(AlarmDescription),
    remedy: 'shorten alarms.runbook',
  },
];

/** What every resource may have, and every stack; CDK itself checks the number of resources. */
export const MOST_TAGS = 50;
export const MOST_TEMPLATE_BYTES = 1_048_576;
