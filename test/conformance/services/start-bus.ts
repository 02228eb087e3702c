import {
  CreateEventBusCommand,
  EventBridgeClient,
  type InputTransformer,
  PutEventsCommand,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import { servicesEnvironment, uniqueName } from './services-environment.ts';

export type Delivered = {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: Readonly<Record<string, string>>;
};

/**
 * Creates an event bus on the engine, with a rule for this pattern and a queue that receives its events, converted by
 * the transformer if there is one.
 */
export async function startBus(pattern: object, transformer?: InputTransformer) {
  const environment = servicesEnvironment();
  const times = { connectionTimeoutMs: 5_000, requestTimeoutMs: 60_000 };
  const events = new EventBridgeClient(awsClientConfig(environment, { service: 'EVENTBRIDGE', ...times }));
  const sqs = new SQSClient(awsClientConfig(environment, { service: 'SQS', ...times }));
  const [EventBusName, Rule] = [uniqueName('bus'), uniqueName('rule')];
  const { QueueUrl } = await sqs.send(new CreateQueueCommand({ QueueName: uniqueName('events') }));
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['QueueArn'] }),
  );
  await events.send(new CreateEventBusCommand({ Name: EventBusName }));
  await events.send(new PutRuleCommand({ Name: Rule, EventBusName, EventPattern: JSON.stringify(pattern) }));
  const Targets = [{ Id: 'queue', Arn: Attributes.QueueArn, InputTransformer: transformer }];
  await events.send(new PutTargetsCommand({ Rule, EventBusName, Targets }));
  async function bodies(): Promise<readonly string[]> {
    const all: string[] = [];
    for (;;) {
      const { Messages = [] } = await sqs.send(
        new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
      );
      if (Messages.length === 0) return all;
      all.push(...Messages.map(({ Body = '' }) => Body));
      const Entries = Messages.map(({ ReceiptHandle }, place) => ({ Id: `${place}`, ReceiptHandle }));
      await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }));
    }
  }
  return {
    bus: EventBusName,
    /** The settings of a worker that reports to the bus. */
    settings: { SYNC_EVENT_BUS: EventBusName, AWS_ENDPOINT_URL_EVENTBRIDGE: environment.AWS_ENDPOINT_URL },
    /** Sends an event to the bus. `Detail` is JSON. */
    async put(entry: { readonly Source: string; readonly DetailType: string; readonly Detail: string }) {
      const { Entries = [] } = await events.send(
        new PutEventsCommand({ Entries: [{ ...entry, EventBusName }] }),
      );
      return Entries[0]?.EventId;
    },
    /** Receives the events that have arrived in the queue. */
    delivered: async (): Promise<readonly Delivered[]> => (await bodies()).map((body) => JSON.parse(body)),
    /** Receives the bodies of the messages that have arrived in the queue. */
    bodies,
    [Symbol.dispose]() {
      events.destroy();
      sqs.destroy();
    },
  };
}
