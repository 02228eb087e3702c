import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Instance } from './config-schema.ts';
import { acknowledge } from './nag.ts';

type TokenSecretProps = Pick<Instance, 'tokenSecretArn' | 'tokenKeyArn'>;

/** The platform's token: a secret that already exists, or one of the stack, in which the token is put by hand. */
export class TokenSecret extends Construct {
  readonly arn: string;
  private readonly keyArn: string | undefined;

  constructor(scope: Construct, id: string, { tokenSecretArn, tokenKeyArn }: TokenSecretProps) {
    super(scope, id);
    this.keyArn = tokenKeyArn;
    this.arn = tokenSecretArn ?? this.made().secretArn;
  }

  grantRead(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['secretsmanager:GetSecretValue'],
      resourceArns: [this.arn],
    });
    if (this.keyArn === undefined) return;
    Grant.addToPrincipal({
      grantee,
      actions: ['kms:Decrypt'],
      resourceArns: [this.keyArn],
      conditions: { StringEquals: { 'kms:EncryptionContext:SecretARN': this.arn } },
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
