import { PublishCommand, SNSClient } from '@aws-sdk/client-sns';
import { type AwsEnvironment, asAwsError, awsClientConfig } from '../../base/aws/index.ts';
import type { PrintedDigest, SendDigest } from './digest.ts';
import { slackCode, slackText } from './webhook.ts';

/** Creates a sender that publishes each digest to SNS topics. It throws `AwsError` if no topic accepted the digest. */
export function createTopicSender(options: {
  /** The ARNs of the topics; each topic is in its own region. */
  readonly topics: readonly string[];
  readonly environment: AwsEnvironment;
  /** Called for each topic that did not accept the digest even though another topic did. */
  readonly warn: (what: string, err: unknown) => void;
}): SendDigest {
  const { topics, environment, warn } = options;
  const clients = topics.map((topic) => ({ topic, client: clientFor(topic, environment) }));
  return async (digest) => {
    const tried = await Promise.allSettled(
      clients.map(({ topic, client }) =>
        asAwsError({ resource: 'topic', tried: `publish a digest to ${topic}` }, () =>
          client.send(new PublishCommand({ TopicArn: topic, ...messageOf(digest) })),
        ),
      ),
    );
    const errors = tried.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    if (errors.length === tried.length) throw errors[0] ?? new Error('expected a topic, got none');
    // A retry for one topic would send the message twice to the other topics.
    for (const error of errors) warn('a topic got no digest', error);
  };
}

const clientFor = (topic: string, environment: AwsEnvironment) =>
  new SNSClient({
    ...awsClientConfig(environment, { service: 'SNS', connectionTimeoutMs: 5_000, requestTimeoutMs: 10_000 }),
    region: topic.split(':')[3] ?? '',
  });

/**
 * The message: plain text for all subscribers, except for https. These get the format of Amazon Q Developer in chat
 * applications, which posts to Slack channels and drops any other text. Source: "Custom notifications" in its guide.
 */
function messageOf({ subject, text }: PrintedDigest) {
  const content = {
    textType: 'client-markdown',
    title: slackText(subject),
    description: slackCode(text, MAX_CODE_LENGTH),
  };
  return {
    Subject: subject,
    MessageStructure: 'json',
    Message: JSON.stringify({
      default: text,
      https: JSON.stringify({ version: '1.0', source: 'custom', content }),
    }),
  };
}

/** Maximum characters of the code block. A description may have 8,000 characters. */
const MAX_CODE_LENGTH = 7_900;
