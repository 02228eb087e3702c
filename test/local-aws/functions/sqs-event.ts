import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';

/** A message as Lambda's event source mapping passes it on. */
export type SqsRecord = {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly messageAttributes: Readonly<Record<string, object>>;
  readonly md5OfBody: string;
  readonly md5OfMessageAttributes?: string;
  readonly eventSource: 'aws:sqs';
  readonly eventSourceARN: string;
  readonly awsRegion: string;
};

/** The event for a batch: the received messages in Lambda's shape. */
export const toSqsEvent = (
  messages: readonly Message[],
  eventSourceARN: string,
): { readonly Records: readonly SqsRecord[] } => ({
  Records: messages.map((message) => toRecord(message, eventSourceARN)),
});

const toRecord = (message: Message, eventSourceARN: string): SqsRecord => ({
  messageId: message.MessageId ?? '',
  receiptHandle: message.ReceiptHandle ?? '',
  body: message.Body ?? '',
  attributes: message.Attributes ?? {},
  messageAttributes: Object.fromEntries(
    Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [name, toAttribute(value)]),
  ),
  md5OfBody: message.MD5OfBody ?? '',
  ...(message.MD5OfMessageAttributes ? { md5OfMessageAttributes: message.MD5OfMessageAttributes } : {}),
  eventSource: 'aws:sqs',
  eventSourceARN,
  awsRegion: eventSourceARN.split(':')[3] ?? '',
});

const toAttribute = ({ DataType, StringValue, BinaryValue }: MessageAttributeValue): object => ({
  ...(StringValue === undefined ? {} : { stringValue: StringValue }),
  ...(BinaryValue === undefined ? {} : { binaryValue: Buffer.from(BinaryValue).toString('base64') }),
  stringListValues: [],
  binaryListValues: [],
  dataType: DataType,
});
