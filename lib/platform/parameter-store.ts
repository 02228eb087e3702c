import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { type AwsEnvironment, awsClientConfig } from '../base/aws/index.ts';

/**
 * Creates the function that reads a parameter of Parameter Store, decrypted. It is in a separate file, so that a
 * bundle can import it statically and includes only the parts of the SDK that it uses.
 */
export function openParameter(
  name: string,
  environment: AwsEnvironment,
  limits: { readonly connectionTimeoutMs: number; readonly requestTimeoutMs: number },
) {
  const client = new SSMClient(awsClientConfig(environment, { service: 'SSM', ...limits }));
  return async () => {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
    return { text: Parameter?.Value ?? '', type: Parameter?.Type };
  };
}
