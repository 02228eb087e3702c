import type { IncomingHttpHeaders } from 'node:http';
import { signerOf } from '../signer.ts';
import { s3OperationOf } from './s3/s3-operation.ts';

export type ServiceName = 's3' | 'sqs' | 'dynamodb';

/** A request to one of the services, with its complete body. */
export type AwsRequest = {
  readonly service: ServiceName;
  /** The name in the API reference, such as `PutObject`. */
  readonly operation: string;
  readonly method: string;
  /** Percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

type Received = Pick<AwsRequest, 'method' | 'headers' | 'body'> & { readonly url: string };

/** Parses a request; undefined if its signature names none of the services. Signatures are read, not checked. */
export function parseRequest({ method, url, headers, body }: Received): AwsRequest | undefined {
  const { pathname: path, searchParams: query } = new URL(`http://localhost${url}`);
  const operation = String(headers['x-amz-target'] ?? '').replace(/^[^.]*\./, '');
  const request = { operation, method, path, query, headers, body };
  const service = signerOf(headers, url)?.service;
  switch (service) {
    case 's3':
      return { ...request, service, operation: s3OperationOf(request) };
    case 'sqs':
    case 'dynamodb':
      return { ...request, service };
    default:
      return undefined;
  }
}

/** The path with the query, as sent. */
export const urlOf = ({ path, query }: Pick<AwsRequest, 'path' | 'query'>): string =>
  query.size === 0 ? path : `${path}?${query}`;

/** The members of a JSON body. */
export type Members = Readonly<Record<string, unknown>>;

/** The members of a request's JSON body; empty if it is not an object. */
export function membersOf(request: AwsRequest): Members {
  const known = parsed.get(request);
  if (known !== undefined) return known;
  const members = parseMembers(request.body);
  parsed.set(request, members);
  return members;
}

/** The parsed bodies, so that several rules parse a body only once. */
const parsed = new WeakMap<AwsRequest, Members>();

export function parseMembers(body: Buffer): Members {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isMembers(value) ? value : {};
  } catch {
    return {};
  }
}

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads a list of objects in a request or reply; any other value is an empty list. */
export const listOf = (value: unknown): readonly Members[] =>
  Array.isArray(value) ? value.filter(isMembers) : [];

/** Replaces the members of a request. */
export const withMembers = (request: AwsRequest, members: Members): AwsRequest => ({
  ...request,
  body: Buffer.from(JSON.stringify({ ...membersOf(request), ...members })),
});
