import { Annotations, Names, Stack } from 'aws-cdk-lib';
import { SlackChannelConfiguration } from 'aws-cdk-lib/aws-chatbot';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { acknowledge } from './nag.ts';
import { type Severity, severities } from './severities.ts';

/** Props of `AlarmTopics`. */
export type AlarmTopicsProps = {
  readonly alarms: Instance['alarms'];
  /** Existing topics of the surrounding app, by severity. */
  readonly given: ExistingTopics;
};

/** Existing topics for the alarms of each severity. */
export type ExistingTopics = Readonly<Partial<Record<Severity, ITopic | undefined>>>;

/** The SNS topics that are notified when an alarm starts and when it ends. */
export class AlarmTopics extends Construct {
  private readonly ofAll: readonly ITopic[];
  private readonly bySeverity: Readonly<Record<Severity, readonly ITopic[]>>;

  constructor(scope: Construct, id: string, { alarms, given }: AlarmTopicsProps) {
    super(scope, id);
    const { email, topicArn, slack } = alarms;
    const existing = topicArn === undefined ? [] : [Topic.fromTopicArn(this, 'GivenTopic', topicArn)];
    const own = email === undefined && slack === undefined ? [] : [this.ownTopic()];
    if (email !== undefined) own[0]?.addSubscription(new EmailSubscription(email));
    if (slack !== undefined) this.addSlack(slack, own);
    this.ofAll = [...existing, ...own];
    this.bySeverity = {
      page: this.topicsOf('page', alarms, given),
      ticket: this.topicsOf('ticket', alarms, given),
      notice: this.topicsOf('notice', alarms, given),
    };
    const silent = severities.filter((severity) => this.of(severity).length === 0);
    if (silent.length > 0)
      Annotations.of(this).addWarningV2(
        'platform-sync:alarms',
        silent.length === severities.length
          ? 'alarms have no recipient: configure alarms.email, alarms.slack, alarms.topicArn or alarms.topics'
          : `alarms of severity ${silent.join(' or ')} have no recipient: configure alarms.topics`,
      );
  }

  /** The topics that are notified about alarms of a severity. */
  of(severity: Severity): readonly ITopic[] {
    return [...this.ofAll, ...this.bySeverity[severity]];
  }

  private topicsOf(
    severity: Severity,
    { topics }: Instance['alarms'],
    given: ExistingTopics,
  ): readonly ITopic[] {
    const arn = topics[severity];
    const existing = given[severity];
    return [
      ...(arn === undefined ? [] : [Topic.fromTopicArn(this, `Given-${severity}`, arn)]),
      ...(existing === undefined ? [] : [existing]),
    ];
  }

  private ownTopic(): Topic {
    const topic = new Topic(this, 'Topic', { enforceSSL: true });
    acknowledge(
      topic,
      'SNS2',
      'The messages are names of alarms, and digests of reports; SNS stores them only until delivery. CloudWatch may not use AWS’s own key, and a separate key costs $1 a month. alarms.topicArn can name an encrypted topic instead.',
    );
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic;
  }

  /** Sends alarms to a Slack channel. Its role has no permissions, so nothing in AWS can be controlled from there. */
  private addSlack({ workspaceId, channelId }: Slack, notificationTopics: ITopic[]): void {
    const StringEquals = { 'aws:SourceAccount': Stack.of(this).account };
    const assumedBy = new ServicePrincipal('chatbot.amazonaws.com', { conditions: { StringEquals } });
    new SlackChannelConfiguration(this, 'Slack', {
      slackChannelConfigurationName: Names.uniqueResourceName(this, {
        maxLength: 128,
        separator: '-',
        allowedSpecialCharacters: '-',
      }),
      slackWorkspaceId: workspaceId,
      slackChannelId: channelId,
      notificationTopics,
      role: new Role(this, 'SlackRole', { assumedBy }),
    });
  }
}

type Slack = NonNullable<Instance['alarms']['slack']>;
