import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type AwsEnvironment, awsClientConfig } from '../base/aws/index.ts';

/**
 * Creates the function that reads a secret of Secrets Manager. In its own file, so that the client loads only if
 * needed.
 */
export function openSecret(
  id: string,
  environment: AwsEnvironment,
  limits: { readonly connectionTimeoutMs: number; readonly requestTimeoutMs: number },
) {
  const client = new SecretsManagerClient(
    awsClientConfig(environment, { service: 'SECRETS_MANAGER', ...limits }),
  );
  return async () => {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return { text: SecretString };
  };
}
