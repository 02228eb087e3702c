import { CreateSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import { servicesEnvironment, uniqueName } from './services-environment.ts';

/** A client for the secrets of the engine. */
export const createSecretsClient = (): SecretsManagerClient =>
  new SecretsManagerClient(
    awsClientConfig(servicesEnvironment(), {
      service: 'SECRETS_MANAGER',
      connectionTimeoutMs: 5_000,
      requestTimeoutMs: 10_000,
    }),
  );

/** Creates a secret. Returns it with the settings of a command that takes its token from it. */
export async function createSecret(SecretString: string) {
  const { AWS_ENDPOINT_URL } = servicesEnvironment();
  const client = createSecretsClient();
  try {
    const command = new CreateSecretCommand({ Name: uniqueName('platform/token'), SecretString });
    const { Name = '', ARN = '' } = await client.send(command);
    const settings = { PLATFORM_TOKEN_SECRET: ARN, AWS_ENDPOINT_URL_SECRETS_MANAGER: AWS_ENDPOINT_URL };
    return { id: Name, arn: ARN, settings };
  } finally {
    client.destroy();
  }
}
