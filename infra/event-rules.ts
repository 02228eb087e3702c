import { Duration } from 'aws-cdk-lib';
import { EventField, type EventPattern, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
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
    for (const each of rules) {
      new Rule(this, each.name, {
        description: `Runs ${each.functionName}`,
        eventPattern: each.pattern as EventPattern,
        targets: [
          new SqsQueue(jobs, {
            message: RuleTargetInput.fromObject(messageOf(each)),
            deadLetterQueue: this.deadLetters,
            retryAttempts: 24,
            maxEventAge: Duration.hours(24),
          }),
        ],
      });
    }
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
