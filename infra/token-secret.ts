import { Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { acknowledge } from './nag.ts';

type TokenSecretProps = Pick<Instance, 'tokenSecretArn' | 'tokenKeyArn'> &
  GivenToken & {
    /** For a secret of our own. */
    readonly key?: IKey | undefined;
  };

export type GivenToken = {
  /** A secret that exists already, with its key if it has one of its own. */
  readonly tokenSecret?: ISecret | undefined;
  /** A SecureString that exists already: its name, its ARN, or itself, with its key if it has one of its own. */
  readonly tokenParameter?: string | IParameter | undefined;
};

/**
 * The platform's token: a parameter or a secret that already exists, or a secret of the stack, in which the token is put
 * by hand. (CloudFormation can create no SecureString.)
 */
export class TokenSecret extends Construct {
  /** Of the parameter or the secret: what PLATFORM_TOKEN_SECRET is set to. */
  readonly arn: string;
  private readonly access: Access;

  constructor(scope: Construct, id: string, props: TokenSecretProps) {
    super(scope, id);
    const { tokenSecretArn, tokenKeyArn, tokenSecret, tokenParameter, key } = props;
    if (tokenParameter !== undefined) {
      this.arn = this.parameterArn(tokenParameter);
      const keyArn = tokenKeyArn ?? keyOf(tokenParameter)?.keyArn;
      this.access = { ...ofParameter, resource: this.arn, keyArn };
      return;
    }
    const secret = tokenSecretArn === undefined ? (tokenSecret ?? this.made(key)) : undefined;
    this.arn = tokenSecretArn ?? secret?.secretArn ?? '';
    // One that is imported by its name has no full ARN: AWS adds six characters to it.
    const isPartial = tokenSecret !== undefined && tokenSecret.secretFullArn === undefined;
    this.access = {
      ...ofSecret,
      resource: isPartial ? `${this.arn}-??????` : this.arn,
      keyArn: tokenKeyArn ?? secret?.encryptionKey?.keyArn,
    };
  }

  grantRead(grantee: IGrantable): void {
    const { action, context, resource, keyArn } = this.access;
    Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [resource] });
    if (keyArn === undefined) return;
    Grant.addToPrincipal({
      grantee,
      actions: ['kms:Decrypt'],
      resourceArns: [keyArn],
      conditions: { [resource === this.arn ? 'StringEquals' : 'StringLike']: { [context]: resource } },
    });
  }

  private made(key: IKey | undefined): ISecret {
    const description = 'The developer token of the platform';
    const secret = new Secret(this, 'Token', {
      description,
      ...(key === undefined ? {} : { encryptionKey: key }),
    });
    acknowledge(
      secret,
      'SMG4',
      'Only a person can create a token, on the platform; an alarm goes off when it expires.',
    );
    return secret;
  }

  private parameterArn(parameter: string | IParameter): string {
    if (typeof parameter !== 'string') return parameter.parameterArn;
    if (parameter.startsWith('arn:')) return parameter;
    // A name may begin with a slash, which stands between `parameter` and the name in any case.
    const resourceName = parameter.replace(/^\//, '');
    return Stack.of(this).formatArn({ service: 'ssm', resource: 'parameter', resourceName });
  }
}

/** What reading the token takes. */
type Access = typeof ofParameter & { readonly resource: string; readonly keyArn: string | undefined };

/** The actions, and what a key sees of what it decrypts. */
const ofParameter: { readonly action: string; readonly context: string } = {
  action: 'ssm:GetParameter',
  context: 'kms:EncryptionContext:PARAMETER_ARN',
};
const ofSecret: typeof ofParameter = {
  action: 'secretsmanager:GetSecretValue',
  context: 'kms:EncryptionContext:SecretARN',
};

/** Parameters of CDK have their key, though the interface does not say so. */
function keyOf(parameter: string | (IParameter & { readonly encryptionKey?: IKey })): IKey | undefined {
  return typeof parameter === 'string' ? undefined : parameter.encryptionKey;
}
