import { vi } from 'vitest';
import { bytes, type Reply, reset, type ScriptedServer } from '../platform/scripted-server.ts';

/*
 * Responses of AWS that no local server gives, over real connections: so the SDK's own retries, its parsing of errors
 * and what Node's handler makes of a broken connection are part of what is tested. (aws-sdk-client-mock, which replaces
 * `send`, shows none of these, and serves where only the adapter's own reading matters.)
 */

/** The request arrived, and may have been carried out, but no response came back. */
export const lost = reset;

/** An error as S3 prints it. Under status 200: a failure that came after the head. */
export const s3Error = (code: string, status: number): Reply =>
  bytes(
    `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>about ${code}</Message></Error>`,
    { 'content-type': 'application/xml' },
    status,
  );

/** An error as the services that speak JSON print it. */
export const jsonError = (code: string, status = 400): Reply =>
  jsonReply({ __type: `com.amazonaws.service#${code}`, message: `about ${code}` }, status, {
    'x-amzn-errortype': code,
  });

/** A response of a service that speaks JSON. */
export const jsonReply = (
  value: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Reply =>
  bytes(JSON.stringify(value), { 'content-type': 'application/x-amz-json-1.0', ...headers }, status);

/** Settings of a client that reaches the server. */
export const environmentOf = ({ url }: Pick<ScriptedServer, 'url'>) => ({
  AWS_ENDPOINT_URL: url,
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'a-secret-key',
});

/** Lets the SDK retry at once: it waits a random part of a delay. To be called before each test. */
export const retryAtOnce = () => vi.spyOn(Math, 'random').mockReturnValue(0);
