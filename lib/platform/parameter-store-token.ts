import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { type AwsEnvironment, asAwsError, awsClientConfig } from '../base/aws/index.ts';
import { notAToken, secretLimits, secretToken, storedToken, type TokenSource } from './token.ts';

type ParameterStoreOptions = {
  /** The ARN or the name of a SecureString, whose text is the token. */
  readonly parameter: string;
  readonly environment: AwsEnvironment;
};

/** Cached for 5 minutes, and read again once when refused. Throws `AwsError`, also for one that is not encrypted. */
export function parameterStoreToken({ parameter, environment }: ParameterStoreOptions): TokenSource {
  const client = new SSMClient(awsClientConfig(environment, { service: 'SSM', ...secretLimits }));
  return secretToken({
    fetchSecret: async () => {
      const { Parameter: { Type: type, Value: text = '' } = {} } = await asAwsError(
        { part: 'token', tried: `read parameter ${parameter}` },
        () => client.send(new GetParameterCommand({ Name: parameter, WithDecryption: true })),
      );
      if (type !== 'SecureString')
        throw notAToken(`parameter ${parameter}`, `a SecureString, got ${type ?? 'nothing'}`);
      return storedToken(`parameter ${parameter}`, text);
    },
  });
}
