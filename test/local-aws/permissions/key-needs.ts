import { REGION } from '../identity.ts';
import type { Need } from './statement.ts';

/**
 * The actions that a request needs on the key of its resource, which the service uses on behalf of the caller. `keyOf`:
 * the keys by the ARNs of the encrypted resources. Source: the page on encryption of each service, such as
 * https://docs.aws.amazon.com/kms/latest/developerguide/services-s3.html
 */
export function keyNeedsOf({ action, resource, context }: Need, keyOf: Keys): readonly Need[] {
  const owner = ownerOf(resource);
  const key = keyOf[owner];
  const [service = ''] = action.split(':');
  const uses = key === undefined ? [] : (USES[action] ?? (service === 'dynamodb' ? ['Decrypt'] : []));
  const through = {
    'kms:ViaService': `${service}.${REGION}.amazonaws.com`,
    ...Object.fromEntries((ENCRYPTION_CONTEXT[service] ?? []).map((name) => [name, owner])),
  };
  return uses.map((use) => ({
    action: `kms:${use}`,
    resource: key ?? '',
    context: { ...context, ...through },
  }));
}

export type Keys = Readonly<Record<string, string>>;

/** The resource that has the policy and the key: for an object, its bucket. */
export const ownerOf = (resource: string): string =>
  resource.startsWith('arn:aws:s3:::') ? (resource.split('/')[0] ?? '') : resource;

/** Actions on the key, by action on the resource. A put may belong to an upload in parts, which is decrypted at its end. */
const USES: Readonly<Record<string, readonly string[]>> = {
  's3:GetObject': ['Decrypt'],
  's3:GetObjectVersion': ['Decrypt'],
  's3:PutObject': ['GenerateDataKey', 'Decrypt'],
  'secretsmanager:GetSecretValue': ['Decrypt'],
  'secretsmanager:PutSecretValue': ['GenerateDataKey', 'Decrypt'],
  'sns:Publish': ['GenerateDataKey', 'Decrypt'],
  'sqs:ReceiveMessage': ['Decrypt'],
  'sqs:SendMessage': ['GenerateDataKey', 'Decrypt'],
  'ssm:GetParameter': ['Decrypt'],
};

const ENCRYPTION_CONTEXT: Readonly<Record<string, readonly string[]>> = {
  s3: ['kms:EncryptionContext:aws:s3:arn'],
  secretsmanager: ['kms:EncryptionContext:SecretARN'],
  ssm: ['kms:EncryptionContext:PARAMETER_ARN'],
};
