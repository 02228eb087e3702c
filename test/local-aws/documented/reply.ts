import type { OutgoingHttpHeaders } from 'node:http';
import { type Members, parseMembers, type ServiceName } from './aws-request.ts';

export type Reply = {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
  /** The request was executed, but the connection breaks before the response. */
  readonly isLost?: true;
};

/** An error response of a service. */
export type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** Additional members of the error. */
  readonly more?: Members;
};

/** The error in the protocol of the service. */
export function refuse(service: ServiceName, refusal: Refusal): Reply {
  return service === 's3' ? xmlError(refusal) : jsonError(service, refusal);
}

const TYPES = { sqs: 'com.amazonaws.sqs', dynamodb: 'com.amazonaws.dynamodb.v20120810' } as const;

function jsonError(service: keyof typeof TYPES, { status, code, message, more }: Refusal): Reply {
  const fault = status < 500 ? 'Sender' : 'Receiver';
  return toJson(
    { __type: `${TYPES[service]}#${code}`, message, ...more },
    { status, headers: service === 'sqs' ? { 'x-amzn-query-error': `${code};${fault}` } : {} },
  );
}

function xmlError({ status, code, message, more = {} }: Refusal): Reply {
  const others = Object.entries(more).map(
    ([name, value]) => `<${name}>${escapeXml(String(value))}</${name}>`,
  );
  return toXml(
    `<Error><Code>${code}</Code><Message>${escapeXml(message)}</Message>${others.join('')}<RequestId>sandbox</RequestId><HostId>sandbox</HostId></Error>`,
    { status },
  );
}

type Options = { readonly status?: number; readonly headers?: OutgoingHttpHeaders };

export const toXml = (xml: string, { status = 200, headers = {} }: Options = {}): Reply => ({
  status,
  headers: { ...headers, 'content-type': 'application/xml' },
  body: Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>\n${xml}`),
});

export const toJson = (value: Members, { status = 200, headers = {} }: Options = {}): Reply => ({
  status,
  headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(JSON.stringify(value)),
});

/** The members of a successful reply, or undefined. */
export const succeeded = (reply: Reply): Members | undefined =>
  reply.status === 200 && reply.isLost !== true ? parseMembers(reply.body) : undefined;

export const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\r', '&#13;');

export const unescapeXml = (text: string): string =>
  text
    .replaceAll('&#13;', '\r')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
