import { vi } from 'vitest';
import { bytes, type Reply, reset, type ScriptedServer } from '../../platform/scripted-server.ts';

/*
 * Responses of AWS that no local server gives, over real connections, so that the SDK's own retries, its parsing of
 * errors and Node's handling of a broken connection are tested too. (aws-sdk-client-mock replaces `send` and covers
 * none of these; it is used where only the adapter's own code matters.)
 */

/** The request arrives and may be carried out, but no response comes back. */
export const lost = reset;

/** An error as S3 prints it. With status 200, it is a failure after the headers were sent. */
export const s3Error = (code: string, status: number): Reply =>
  bytes(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>about ${code}</Message></Error>`,
    { 'content-type': 'application/xml' },
    status,
  );

/** An error as a service that uses JSON prints it. */
export const jsonError = (code: string, status = 400): Reply =>
  jsonReply({ __type: `com.amazonaws.service#${code}`, message: `about ${code}` }, status, {
    'x-amzn-errortype': code,
  });

/** A response from a service that uses JSON. */
export const jsonReply = (
  value: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Reply =>
  bytes(JSON.stringify(value), { 'content-type': 'application/x-amz-json-1.0', ...headers }, status);

/** The environment of a client of this server. */
export const environmentOf = ({ url }: Pick<ScriptedServer, 'url'>) => ({
  AWS_ENDPOINT_URL: url,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'a-secret-key',
});

/** Makes the SDK retry without a delay, since it waits a random part of one. Call it before each test. */
export const retryAtOnce = () => vi.spyOn(Math, 'random').mockReturnValue(0);
