import { Duration, Names, Stack } from 'aws-cdk-lib';
import {
  EventField,
  type EventPattern,
  type IRuleTarget,
  Rule,
  RuleTargetInput,
} from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { type EventRule, isEventPath } from './config-events.ts';
import { createDeadLetterQueue } from './queues.ts';

export type EventRulesProps = {
  readonly rules: readonly EventRule[];
  /** The queue of code functions. */
  readonly jobs: Queue;
};

/** Events that become `run-function` messages. Those that cannot be put on the queue go to the dead-letter queue. */
export class EventRules extends Construct {
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { rules, jobs }: EventRulesProps) {
    super(scope, id);
    this.deadLetters = createDeadLetterQueue(this, 'DeadLetters');
    // Names of rules are at most 64 characters long, those of the configuration 41.
    const prefix = Names.uniqueResourceName(this, { maxLength: 22 });
    for (const each of rules)
      new Rule(this, each.name, {
        ruleName: `${prefix}-${each.name}`,
        description: `Runs ${each.functionName}`,
        eventPattern: each.pattern as EventPattern,
        targets: [this.target(jobs, each)],
      });
    if (rules.length > 0) for (const queue of [jobs, this.deadLetters]) this.letRulesSend(queue, prefix);
  }

  /** The queue as a target. The one of CDK adds a statement to the queue's policy for each rule; SQS takes 20. */
  private target(jobs: Queue, rule: EventRule): IRuleTarget {
    return {
      bind: () => ({
        arn: jobs.queueArn,
        input: RuleTargetInput.fromObject(messageOf(rule)),
        targetResource: jobs,
        deadLetterConfig: { arn: this.deadLetters.queueArn },
        retryPolicy: { maximumRetryAttempts: 24, maximumEventAgeInSeconds: Duration.hours(24).toSeconds() },
      }),
    };
  }

  /** One statement for the rules of this stack, by their names and the account. */
  private letRulesSend(queue: Queue, prefix: string): void {
    const { account } = Stack.of(this);
    const rules = Stack.of(this).formatArn({
      service: 'events',
      resource: 'rule',
      resourceName: `${prefix}-*`,
    });
    queue.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [queue.queueArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account }, ArnLike: { 'aws:SourceArn': rules } },
      }),
    );
  }
}

/** The job's id is the event's, so an event that is delivered twice is one job. So are two rules for one event. */
function messageOf({ packageId, packageVersion, functionName, inputVariables, onUnknown }: EventRule) {
  return {
    version: 1,
    type: 'run-function',
    id: EventField.eventId,
    packageId,
    packageVersion,
    functionName,
    ...(inputVariables === undefined ? {} : { inputVariables: withFields(inputVariables) }),
    ...(onUnknown === undefined ? {} : { onUnknown }),
  };
}

/** The value, with each path replaced by the event's field. */
function withFields(value: unknown): unknown {
  if (isEventPath(value)) return EventField.fromPath(value);
  if (Array.isArray(value)) return value.map(withFields);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withFields(each)]));
}
