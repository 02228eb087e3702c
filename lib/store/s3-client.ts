import { Agent } from 'node:https';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { proxyEnvironment } from '../proxy-environment.ts';

/** Environment variables by name, as `process.env` has them. */
export type S3Environment = Readonly<Partial<Record<string, string>>>;

/**
 * A client by the SDK's own variables: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` (then buckets are addressed by
 * path), `AWS_REGION` or `AWS_DEFAULT_REGION`, `AWS_ACCESS_KEY_ID` with its companions unless `AWS_PROFILE` is set.
 * What is absent is left to the SDK, which looks in the process's environment, in profiles and roles.
 * Requests over https honour `HTTPS_PROXY` and `NO_PROXY`.
 */
export const createS3Client = (environment: S3Environment): S3Client => {
  const endpoint = environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL;
  const region = environment.AWS_REGION || environment.AWS_DEFAULT_REGION;
  return new S3Client({
    ...(endpoint ? { endpoint, forcePathStyle: true } : {}),
    ...(region ? { region } : {}),
    ...readCredentials(environment),
    requestHandler: {
      // An agent rather than its options: for large bodies (Expect: 100-continue) the SDK makes agents of its own,
      // without these options, unless it was given one.
      httpsAgent: new Agent({ keepAlive: true, maxSockets, proxyEnv: proxyEnvironment(environment) }),
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
  });
};

// The SDK's own number.
const maxSockets = 50;
const connectionTimeoutMs = 10_000;
// Until the answer's head is there; a part of 8 MiB takes this long at 0.6 Mbit/s.
const requestTimeoutMs = 120_000;

const readCredentials = (environment: S3Environment): Pick<S3ClientConfig, 'credentials'> => {
  const accessKeyId = environment.AWS_ACCESS_KEY_ID;
  const secretAccessKey = environment.AWS_SECRET_ACCESS_KEY;
  const sessionToken = environment.AWS_SESSION_TOKEN;
  if (!accessKeyId || !secretAccessKey || environment.AWS_PROFILE) return {};
  return { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } };
};
