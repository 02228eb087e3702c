import { escapeXml } from '../documented/reply.ts';

/** An error response in AWS's format. */
export type Refused = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * The response of a service to a denied request, in the format that its SDK parses. `message` names the caller, the
 * action and the resource. Source: the section *Common Errors* of each service's API reference; that of S3 is
 * https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
 */
export function refusedBy(service: string, method: string, message: string): Refused {
  switch (service) {
    case 's3': {
      // A response to HEAD has no body.
      const error = `<Error><Code>AccessDenied</Code><Message>${escapeXml(message)}</Message><RequestId>local</RequestId><HostId>local</HostId></Error>`;
      return xml(method === 'HEAD' ? '' : `<?xml version="1.0" encoding="UTF-8"?>\n${error}`);
    }
    case 'sns':
      return xml(queryError('AuthorizationError', message));
    case 'cloudformation':
      return xml(queryError('AccessDenied', message));
    case 'sqs':
      // SDKs use the error name of the older query protocol, which is in this header.
      return json(403, 'com.amazonaws.sqs#AccessDenied', message, {
        'x-amzn-query-error': 'AccessDenied;Sender',
      });
    case 'lambda':
    case 'scheduler':
      return json(403, 'AccessDeniedException', message, { 'x-amzn-errortype': 'AccessDeniedException' });
    case 'dynamodb':
    case 'kms':
    case 'secretsmanager':
    case 'ssm':
    case 'events':
    case 'glue':
    case 'athena':
    case 'monitoring':
      return json(400, 'com.amazon.coral.service#AccessDeniedException', message, {});
    default:
      throw new Error(`${service}: expected a service whose refusals are known`);
  }
}

const xml = (body: string): Refused => ({
  status: 403,
  headers: { 'content-type': 'application/xml' },
  body,
});

const queryError = (code: string, message: string) =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${escapeXml(message)}</Message></Error><RequestId>local</RequestId></ErrorResponse>`;

const json = (status: number, type: string, message: string, headers: Refused['headers']): Refused => ({
  status,
  headers: { 'content-type': 'application/x-amz-json-1.1', ...headers },
  body: JSON.stringify({ __type: type, message, Message: message }),
});
