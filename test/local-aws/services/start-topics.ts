import { text } from 'node:stream/consumers';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** A message as it was published. */
export type Published = {
  readonly topic: string;
  readonly subject: string | null;
  /** The message by the subscriber's protocol. Other protocols get `default`. */
  readonly messages: Readonly<Record<string, string>>;
};

/** Maximum size of a message. SNS rejects larger ones. */
const MAX_BYTES = 256 * 1024;

/** A subject has fewer than 100 ASCII characters, without line ends and control characters. */
const SUBJECT = /^(?! )[ -~]{1,99}$/;

/** Starts a stand-in for SNS with these topics, given by ARN. It accepts messages without delivering them. */
export async function startTopics(
  topics: readonly string[],
): Promise<LoopbackServer & { readonly published: readonly Published[] }> {
  const published: Published[] = [];
  const server = await startLoopbackServer(async (request, response) => {
    const sent = new URLSearchParams(await text(request).catch(() => ''));
    const result = accept(sent, topics);
    if (typeof result !== 'string') published.push(result);
    response.writeHead(typeof result === 'string' ? 400 : 200, { 'content-type': 'text/xml' });
    response.end(typeof result === 'string' ? refusal(result) : ACCEPTED);
  });
  return { ...server, published };
}

/** Parses a publish request. Returns the message, or the code of the error. */
function accept(sent: URLSearchParams, topics: readonly string[]): Published | string {
  const topic = sent.get('TopicArn') ?? '';
  const message = sent.get('Message') ?? '';
  const subject = sent.get('Subject');
  if (sent.get('Action') !== 'Publish') return 'InvalidAction';
  if (!topics.includes(topic)) return 'NotFound';
  if (Buffer.byteLength(message) > MAX_BYTES || (subject !== null && !SUBJECT.test(subject)))
    return 'InvalidParameter';
  const messages = sent.get('MessageStructure') === 'json' ? JSON.parse(message) : { default: message };
  return typeof messages.default === 'string' ? { topic, subject, messages } : 'InvalidParameter';
}

const NAMESPACE = 'http://sns.amazonaws.com/doc/2010-03-31/';

const ACCEPTED = `<PublishResponse xmlns="${NAMESPACE}"><PublishResult><MessageId>0</MessageId></PublishResult></PublishResponse>`;

const refusal = (code: string): string =>
  `<ErrorResponse xmlns="${NAMESPACE}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${code}</Message></Error></ErrorResponse>`;
