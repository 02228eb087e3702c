import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { acknowledge } from './nag.ts';

type TokenSecretProps = Pick<Instance, 'tokenSecretArn' | 'tokenKeyArn'> & GivenSecret;

export type GivenSecret = {
  /** A secret that exists already, with its key if it has one of its own. */
  readonly tokenSecret?: ISecret | undefined;
};

/** The platform's token: a secret that already exists, or one of the stack, in which the token is put by hand. */
export class TokenSecret extends Construct {
  readonly arn: string;
  private readonly keyArn: string | undefined;
  private readonly resource: string;

  constructor(scope: Construct, id: string, props: TokenSecretProps) {
    super(scope, id);
    const { tokenSecretArn, tokenKeyArn, tokenSecret } = props;
    this.keyArn = tokenKeyArn ?? tokenSecret?.encryptionKey?.keyArn;
    this.arn = tokenSecretArn ?? (tokenSecret ?? this.made()).secretArn;
    // One that is imported by its name has no full ARN: AWS adds six characters to it.
    const isPartial = tokenSecret !== undefined && tokenSecret.secretFullArn === undefined;
    this.resource = isPartial ? `${this.arn}-??????` : this.arn;
  }

  grantRead(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['secretsmanager:GetSecretValue'],
      resourceArns: [this.resource],
    });
    if (this.keyArn === undefined) return;
    Grant.addToPrincipal({
      grantee,
      actions: ['kms:Decrypt'],
      resourceArns: [this.keyArn],
      conditions: {
        [this.resource === this.arn ? 'StringEquals' : 'StringLike']: {
          'kms:EncryptionContext:SecretARN': this.resource,
        },
      },
    });
  }

  private made(): ISecret {
    const secret = new Secret(this, 'Token', { description: 'The developer token of the platform' });
    acknowledge(
      secret,
      'SMG4',
      'Only a person can create a token, on the platform; an alarm goes off when it expires.',
    );
    return secret;
  }
}
