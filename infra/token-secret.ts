import { ArnFormat, Fn, Stack } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { IParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import { isToken } from './config-fields.ts';
import type { Instance } from './config-schema.ts';
import { acknowledge, arnText } from './nag.ts';

type TokenSecretProps = Pick<Instance, 'tokenSecretArn' | 'tokenKeyArn' | 'formerKeys'> &
  ExistingToken & {
    /** The key of a secret that the construct creates. */
    readonly key?: IKey | undefined;
  };

/** An existing resource that has the token. */
export type ExistingToken = {
  /** An existing secret that has the token. Functions may also use its encryption key. Default: none. */
  readonly tokenSecret?: ISecret | undefined;
  /**
   * An existing SecureString that has the token: its name, its ARN, or the parameter. Default: none; without a
   * secret either, the construct creates a secret.
   */
  readonly tokenParameter?: string | IParameter | undefined;
};

/**
 * The platform's token: an existing parameter or secret, or a new secret, into which a user puts the token.
 * (CloudFormation cannot create a SecureString.)
 */
export class TokenSecret extends Construct {
  /** The ARN of the parameter or the secret: the value of PLATFORM_TOKEN_SECRET. */
  readonly arn: string;
  private readonly access: Access;

  constructor(scope: Construct, id: string, props: TokenSecretProps) {
    super(scope, id);
    const { tokenSecretArn, tokenKeyArn, tokenSecret, tokenParameter, key, formerKeys } = props;
    const keysOf = (keyArn: string | undefined) => [...(keyArn === undefined ? [] : [keyArn]), ...formerKeys];
    if (tokenParameter !== undefined) {
      const [arn, ...possible] = this.parameterArns(tokenParameter);
      this.arn = arn;
      const keyArns = keysOf(tokenKeyArn ?? keyOf(tokenParameter)?.keyArn);
      this.access = { ...ofParameter, resources: possible.length === 0 ? [arn] : possible, keyArns };
      return;
    }
    const secret = tokenSecretArn === undefined ? (tokenSecret ?? this.createSecret(key)) : undefined;
    this.arn = tokenSecretArn ?? secret?.secretArn ?? '';
    // A secret that is imported by name has no full ARN: AWS adds six characters to it.
    const isPartial = tokenSecret !== undefined && tokenSecret.secretFullArn === undefined;
    this.access = {
      ...ofSecret,
      resources: [isPartial ? `${this.arn}-??????` : this.arn],
      keyArns: keysOf(tokenKeyArn ?? secret?.encryptionKey?.keyArn),
    };
  }

  /** Grants reading the token, and decrypting it with its key. */
  grantRead(grantee: IGrantable): void {
    const { action, context, resources, keyArns } = this.access;
    const [only = '', ...others] = resources;
    Grant.addToPrincipal({ grantee, actions: [action], resourceArns: [...resources] });
    if (keyArns.length === 0) return;
    Grant.addToPrincipal({
      grantee,
      actions: ['kms:Decrypt'],
      resourceArns: [...keyArns],
      conditions: {
        [only.endsWith('?') ? 'StringLike' : 'StringEquals']: {
          [context]: others.length === 0 ? only : resources,
        },
      },
    });
  }

  private createSecret(key: IKey | undefined): ISecret {
    const description = 'The developer token of the platform';
    const secret = new Secret(this, 'Token', {
      description,
      ...(key === undefined ? {} : { encryptionKey: key }),
    });
    acknowledge(
      secret,
      'SMG4',
      'Only a user can create a token, on the platform. An alarm goes off when the token expires.',
    );
    return secret;
  }

  /** The ARN of a parameter, followed by its possible ARNs if the ARN is known only at deployment. */
  private parameterArns(parameter: string | IParameter): readonly [string, ...string[]] {
    if (typeof parameter !== 'string') return [parameter.parameterArn];
    if (arnText(this, parameter).startsWith('arn:')) return [parameter];
    const inArn = (resource: string) =>
      Stack.of(this).formatArn({ service: 'ssm', resource, arnFormat: ArnFormat.NO_RESOURCE_NAME });
    // A name may begin with a slash; the ARN has exactly one slash before the name.
    if (!isToken(parameter)) return [inArn(`parameter/${parameter.replace(/^\//, '')}`)];
    const withSlash = inArn(`parameter/${parameter}`);
    // One of the last two is the ARN; the other does not name a parameter.
    return [Fn.join('/', Fn.split('//', withSlash)), withSlash, inArn(`parameter${parameter}`)];
  }
}

/** The permissions that are needed to read the token. */
type Access = typeof ofParameter & {
  readonly resources: readonly string[];
  readonly keyArns: readonly string[];
};

/** The action that reads the token, and the encryption context of its key. */
const ofParameter: { readonly action: string; readonly context: string } = {
  action: 'ssm:GetParameter',
  context: 'kms:EncryptionContext:PARAMETER_ARN',
};
const ofSecret: typeof ofParameter = {
  action: 'secretsmanager:GetSecretValue',
  context: 'kms:EncryptionContext:SecretARN',
};

/** The encryption key of a parameter. CDK's parameters have this property, but their interface does not declare it. */
function keyOf(parameter: string | (IParameter & { readonly encryptionKey?: IKey })): IKey | undefined {
  return typeof parameter === 'string' ? undefined : parameter.encryptionKey;
}
