import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type AwsEnvironment, asAwsError, awsClientConfig } from '../base/aws/index.ts';
import { secretLimits, secretToken, storedToken, type TokenSource } from './token.ts';

type SecretsManagerOptions = {
  readonly secretId: string;
  readonly environment: AwsEnvironment;
};

/** The token in a secret of Secrets Manager: cached for 5 minutes, and read again once when the platform refuses it. A failed read throws `AwsError`. */
export function secretsManagerToken({ secretId, environment }: SecretsManagerOptions): TokenSource {
  const client = new SecretsManagerClient(
    awsClientConfig(environment, { service: 'SECRETS_MANAGER', ...secretLimits }),
  );
  return secretToken({
    fetchSecret: async () => {
      const { SecretString: text } = await asAwsError(
        { part: 'token', tried: `read secret ${secretId}` },
        () => client.send(new GetSecretValueCommand({ SecretId: secretId })),
      );
      return storedToken(`secret ${secretId}`, text);
    },
  });
}
