import { Duration, Names, Stack } from 'aws-cdk-lib';
import { EventBus, type EventPattern, type IRuleTarget, Rule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EventRule } from './config-events.ts';
import type { OwnQueue } from './jobs.ts';
import type { RareDeadLetters } from './queues.ts';

export type EventRulesProps = RareDeadLetters & {
  readonly rules: readonly EventRule[];
  readonly jobs: OwnQueue;
};

/**
 * Rules that turn events into `run-function` messages. Events that cannot be put on the queue go to the dead-letter
 * queue.
 */
export class EventRules extends Construct {
  readonly #deadLetters: Queue;

  constructor(
    scope: Construct,
    id: string,
    { rules, jobs: { queue: functionsQueue, worker }, rareDeadLetters }: EventRulesProps,
  ) {
    super(scope, id);
    this.#deadLetters = rareDeadLetters;
    // A rule's name in AWS has at most 64 characters, and its name in the configuration at most 41.
    const prefix = Names.uniqueResourceName(this, { maxLength: 22 });
    for (const each of rules) {
      const rule = new Rule(this, each.name, {
        ruleName: `${prefix}-${each.name}`,
        description: `Runs ${each.functionName}`,
        eventPattern: each.pattern as EventPattern,
        ...(isDefault(each.bus)
          ? {}
          : { eventBus: EventBus.fromEventBusName(this, `${each.name}Bus`, each.bus) }),
        targets: [this.target(functionsQueue, each)],
      });
      // An update must deploy the function before the rule, since the rule may write messages in a new format.
      const { defaultChild } = worker.function.node;
      if (defaultChild !== undefined) rule.node.addDependency(defaultChild);
    }
    const names = new Set(rules.map(({ bus }) => (isDefault(bus) ? `${prefix}-*` : `${bus}/${prefix}-*`)));
    for (const queue of [functionsQueue, rareDeadLetters]) this.allowSends(queue, [...names]);
  }

  /**
   * The queue as the target of a rule. CDK's own target would add a statement to the queue's policy for each rule, but
   * SQS allows only 20 statements.
   */
  private target(jobs: Queue, rule: EventRule): IRuleTarget {
    return {
      bind: () => ({
        arn: jobs.queueArn,
        input: { bind: () => ({ inputTemplate: templateOf(rule) }) },
        targetResource: jobs,
        deadLetterConfig: { arn: this.#deadLetters.queueArn },
        retryPolicy: { maximumRetryAttempts: 24, maximumEventAgeInSeconds: Duration.hours(24).toSeconds() },
      }),
    };
  }

  /** Lets all rules of this stack send to a queue, by one statement. `names`: patterns of the rules' names in ARNs. */
  private allowSends(queue: Queue, names: readonly string[]): void {
    const { account } = Stack.of(this);
    const arns = names.map((resourceName) =>
      Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName }),
    );
    const rules = arns.length === 1 ? arns[0] : arns;
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

const isDefault = (bus: string | undefined): bus is undefined | 'default' =>
  bus === undefined || bus === 'default';

/** The placeholder of the event. EventBridge replaces it with JSON, so it must not be in quotes. */
const EVENT = '<aws.events.event.json>';

/**
 * The template of the message: the rule's settings and the event. The job fills its `inputVariables` from the event.
 * Its id is derived from the rule and the event, so two rules create two jobs from one event.
 */
function templateOf({ name, packageId, packageVersion, functionName, inputVariables, onUnknown }: EventRule) {
  const message = {
    version: 1,
    type: 'run-function',
    rule: name,
    packageId,
    packageVersion,
    functionName,
    inputVariables,
    onUnknown,
  };
  return `${JSON.stringify(message).slice(0, -1)},"event":${EVENT}}`;
}
