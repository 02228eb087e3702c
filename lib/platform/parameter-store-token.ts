import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { type AwsEnvironment, asAwsError, awsClientConfig } from '../base/index.ts';
import { secretLimits, secretToken, type TokenSource } from './token.ts';

export type ParameterStoreOptions = {
  /** The ARN or the name of a SecureString, whose text is the token. */
  readonly parameter: string;
  /** Where the region, endpoint, credentials and proxy are looked up; anything absent is left to the SDK. */
  readonly environment: AwsEnvironment;
};

/**
 * The token stored in the Parameter Store of AWS Systems Manager: cached for 5 minutes, and read again once when the
 * platform refuses it. A failed read is thrown as `AwsError` and not cached. A parameter that is not encrypted is refused.
 */
export function parameterStoreToken({ parameter, environment }: ParameterStoreOptions): TokenSource {
  const client = new SSMClient(awsClientConfig(environment, { service: 'SSM', ...secretLimits }));
  return secretToken({
    fetchSecret: async () => {
      const { Parameter: { Type: type, Value: text = '' } = {} } = await asAwsError(
        `read parameter ${parameter}`,
        () => client.send(new GetParameterCommand({ Name: parameter, WithDecryption: true })),
      );
      if (type !== 'SecureString')
        throw new Error(`parameter ${parameter}: expected a SecureString, got ${type ?? 'nothing'}`);
      if (text.trim() !== '') return text;
      throw new Error(`parameter ${parameter}: expected the token as text, got nothing`);
    },
  });
}
