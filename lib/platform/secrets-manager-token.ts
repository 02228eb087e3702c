import { Agent } from 'node:https';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type ProxyEnvironment, proxyEnvironment } from '../proxy-environment.ts';
import { secretToken, type TokenSource } from './token.ts';

export type SecretsManagerOptions = {
  /** The secret's id or ARN; its text is the token. */
  readonly secretId: string;
  /** Where `AWS_REGION`, an endpoint and a proxy are looked up; what is absent is left to the SDK. */
  readonly environment: ProxyEnvironment;
};

/** The token kept in AWS Secrets Manager: cached for 5 minutes, read again once when the platform refuses it. */
export function secretsManagerToken({ secretId, environment }: SecretsManagerOptions): TokenSource {
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'];
  const endpoint = environment['AWS_ENDPOINT_URL_SECRETS_MANAGER'] || environment['AWS_ENDPOINT_URL'];
  const client = new SecretsManagerClient({
    ...(region ? { region } : {}),
    ...(endpoint ? { endpoint } : {}),
    requestHandler: { httpsAgent: new Agent({ keepAlive: true, proxyEnv: proxyEnvironment(environment) }) },
  });
  return secretToken({
    fetchSecret: async () => {
      const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretId }));
      if (text === undefined || text.trim() === '') {
        throw new Error(
          `secret ${secretId}: expected the token as text, got ${text === undefined ? 'binary' : 'nothing'}`,
        );
      }
      return text;
    },
  });
}
