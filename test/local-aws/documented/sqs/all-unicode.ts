import { createHash, randomUUID } from 'node:crypto';
import { listOf, type Members, membersOf, withMembers } from '../aws-request.ts';
import { succeeded, toJson } from '../reply.ts';
import type { Rule } from '../rule.ts';
import { entriesOf } from './batches.ts';

/**
 * Accepts characters above U+FFFF, as SQS does and fauxqs does not. Bodies with such characters are stored in base64,
 * and decoded when they are received.
 */
export const allUnicode = {
  service: 'sqs',
  kind: 'strict',
  says: 'A message may have #x9, #xA, #xD, #x20 to #xD7FF, #xE000 to #xFFFD and #x10000 to #x10FFFF, and no other characters.',
  page: 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html',
  create: () => {
    const encoded = `${randomUUID()}:`;
    const encode = ({ MessageBody, ...rest }: Members): Members =>
      typeof MessageBody === 'string' &&
      HIGH.test(MessageBody) &&
      MessageBody.isWellFormed() &&
      !REFUSED.test(MessageBody)
        ? { ...rest, MessageBody: encoded + Buffer.from(MessageBody).toString('base64') }
        : { ...rest, ...(MessageBody === undefined ? {} : { MessageBody }) };
    const decode = (message: Members): Members => {
      const body = message['Body'];
      if (typeof body !== 'string' || !body.startsWith(encoded)) return message;
      const Body = Buffer.from(body.slice(encoded.length), 'base64').toString('utf8');
      return { ...message, Body, MD5OfBody: md5(Body) };
    };
    return async (request, next) => {
      if (request.operation === 'ReceiveMessage') {
        const reply = await next(request);
        const messages = listOf(succeeded(reply)?.['Messages']);
        return messages.length === 0 ? reply : toJson({ Messages: messages.map(decode) });
      }
      if (!request.operation.startsWith('SendMessage')) return next(request);
      const members = membersOf(request);
      const entries = entriesOf(request);
      const reply = await next(
        withMembers(request, {
          ...encode(members),
          ...(entries.length > 0 ? { Entries: entries.map(encode) } : {}),
        }),
      );
      const sent = succeeded(reply);
      if (sent === undefined) return reply;
      const bodies = new Map(entries.map(({ Id, MessageBody }) => [Id, MessageBody]));
      const withDigest = (one: Members, body: unknown) => ({ ...one, MD5OfMessageBody: md5(String(body)) });
      return request.operation === 'SendMessage'
        ? toJson(withDigest(sent, members['MessageBody']))
        : toJson({
            ...sent,
            Successful: listOf(sent['Successful']).map((one) => withDigest(one, bodies.get(one['Id']))),
          });
    };
  },
} as const satisfies Rule;

const HIGH = /[\u{10000}-\u{10FFFF}]/u;
const REFUSED = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u;

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
