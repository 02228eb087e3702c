import { at, type Known, largestOf, type Properties, sizeOf } from './template-size.ts';

/** A limit of AWS that a configuration can reach, on the resources of one type. */
export type Limit = {
  readonly type: string;
  /** The limited quantity, and its unit. */
  readonly what: string;
  readonly max: number;
  readonly sizeIn: (properties: Properties, known: Known) => number;
  /** How the user can stay below the limit. */
  readonly remedy: string;
};

/**
 * All limits of resources that a configuration can reach. Sources: "Quotas" in the guides of Lambda, EventBridge and
 * Scheduler, and the API references of PutRule, PutTargets, PutMetricAlarm and PutMetricFilter, as of 2026-11-22.
 */
export const limits: readonly Limit[] = [
  {
    type: 'AWS::Lambda::Function',
    what: 'bytes of environment variables',
    max: 4_096,
    sizeIn: (properties, known) => sizeOf(at(properties, 'Environment', 'Variables'), known),
    remedy: 'shorten the field `allow`, or the lists (such as ids) of schedules that have no `cron`',
  },
  {
    type: 'AWS::Events::Rule',
    what: 'characters of event pattern',
    max: 2_048,
    sizeIn: ({ EventPattern }, known) => sizeOf(EventPattern, known),
    remedy: 'split the rule in two, or use a shorter pattern that matches more events',
  },
  {
    type: 'AWS::Events::Rule',
    what: 'characters of input template',
    max: 8_192,
    sizeIn: ({ Targets }, known) =>
      largestOf(Targets, (target) => sizeOf(at(target, 'InputTransformer', 'InputTemplate'), known)),
    remedy: 'shorten the field `inputVariables`: the function can read constant values elsewhere',
  },
  {
    type: 'AWS::Scheduler::Schedule',
    what: 'bytes of input',
    max: 262_144,
    sizeIn: ({ Target }, known) => sizeOf(at(Target, 'Input'), known),
    remedy:
      'shorten the field `inputVariables` or the lists (such as ids) of the schedule, or split the schedule in two',
  },
  {
    type: 'AWS::CloudWatch::Alarm',
    what: 'characters of description',
    max: 1_024,
    sizeIn: ({ AlarmDescription }, known) => sizeOf(AlarmDescription, known),
    remedy: 'shorten the field `alarms.runbook`',
  },
  {
    type: 'AWS::Logs::MetricFilter',
    what: 'characters of filter pattern',
    max: 1_024,
    sizeIn: ({ FilterPattern }, known) => sizeOf(FilterPattern, known),
    remedy: 'configure fewer schedules that raise an alarm when a snapshot is late (`publishedWithinHours`)',
  },
  {
    type: 'AWS::IAM::ManagedPolicy',
    what: 'characters of managed policy',
    max: 6_144,
    sizeIn: ({ PolicyDocument }, known) => sizeOf(PolicyDocument, known),
    remedy: 'shorten the field `prefix`, or use a separate bucket for this instance',
  },
  {
    type: 'AWS::IAM::Policy',
    what: 'characters of all policies in a role',
    max: 10_240,
    sizeIn: ({ PolicyDocument }, known) => sizeOf(PolicyDocument, known),
    remedy: 'shorten the field `prefix`, or use a separate bucket for this instance',
  },
  {
    type: 'AWS::S3::BucketPolicy',
    what: 'bytes of bucket policy',
    max: 20_480,
    sizeIn: ({ PolicyDocument }, known) => sizeOf(PolicyDocument, known),
    remedy:
      'configure fewer readers: list an account instead of its roles. The account itself can then let its roles read',
  },
];

/** Limits of each resource and of each stack. The limit of resources in a stack is checked by CDK. */
export const MAX_TAGS = 50;
export const MAX_TEMPLATE_BYTES = 1_048_576;
