import { vi } from 'vitest';
import { bytes, type Reply, reset, type ScriptedServer } from '../../platform/scripted-server.ts';

/*
 * Responses of AWS that no local server gives, over real connections: so the SDK's own retries, its parsing of errors
 * and how Node handles a broken connection are part of what is tested. (aws-sdk-client-mock, which replaces `send`,
 * shows none of these, and is used where only the adapter's own code matters.)
 */

/** The request arrived, and may have been carried out, but no response came back. */
export const lost = reset;

/** An error as S3 prints it. With status 200: a failure after the head was sent. */
export const s3Error = (code: string, status: number): Reply =>
  bytes(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>about ${code}</Message></Error>`,
    { 'content-type': 'application/xml' },
    status,
  );

/** An error as the services that use JSON print it. */
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

/** The environment for a client of the server. */
export const environmentOf = ({ url }: Pick<ScriptedServer, 'url'>) => ({
  AWS_ENDPOINT_URL: url,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'a-secret-key',
});

/** Lets the SDK retry immediately: it waits a random part of a delay. Call it before each test. */
export const retryAtOnce = () => vi.spyOn(Math, 'random').mockReturnValue(0);
