import { ACCOUNT, REGION } from '../identity.ts';
import { type Resource, resourcesOf, type Template } from '../stack/template.ts';
import type { Resolve } from '../stack/template-values.ts';
import { type PolicyDocument, type Statement, statementsIn } from './statement.ts';

/** A stack's template, and the function that resolves its values. */
export type Deployed = { readonly template: Template; readonly resolve: Resolve };

/** The signer of a request. */
export type Identity = {
  readonly arn: string;
  /** The logical id of the role, or those of the policies, that contain the statements. */
  readonly owners: readonly string[];
  readonly statements: readonly Statement[];
};

/** The separator between the logical ids of a person's policies in an access key id. */
export const AND = '+';

/**
 * The identity of an access key id: the logical id of a function (its role) or of a role, or the logical ids of a
 * person's managed policies. Throws for any other id.
 */
export function identityOf(by: string, deployed: Deployed): Identity {
  const { template, resolve } = deployed;
  const { Type, Properties } = template.Resources[by] ?? {};
  if (Type === 'AWS::Lambda::Function') return roleOf(lastOf(resolve(Properties?.['Role'])), deployed);
  if (Type === 'AWS::IAM::Role') return roleOf(by, deployed);
  const owners = by.split(AND);
  const statements = owners.flatMap((id) => {
    const policy = template.Resources[id];
    if (policy?.Type !== 'AWS::IAM::ManagedPolicy')
      throw new Error(`${by}: expected the access key id of a function, or of people with managed policies`);
    return documentOf(policy, resolve);
  });
  return { arn: `arn:aws:iam::${ACCOUNT}:user/person`, owners, statements };
}

function roleOf(id: string, { template, resolve }: Deployed): Identity {
  const own = template.Resources[id]?.Properties ?? {};
  const { ManagedPolicyArns = [], Policies = [] } = resolve(own) as {
    readonly ManagedPolicyArns?: readonly string[];
    readonly Policies?: readonly { readonly PolicyDocument: PolicyDocument }[];
  };
  const attached = POLICIES.flatMap((type) => resourcesOf(template, type)).filter(
    ([policy, { Properties }]) => {
      const roles = (resolve(Properties['Roles']) ?? []) as readonly string[];
      return roles.includes(id) || ManagedPolicyArns.some((arn) => lastOf(arn) === policy);
    },
  );
  const foreign = ManagedPolicyArns.filter((arn) => !attached.some(([policy]) => lastOf(arn) === policy));
  if (foreign.length > 0) throw new Error(`${id}: expected policies of the template, got ${foreign}`);
  return {
    arn: `arn:aws:iam::${ACCOUNT}:role/${id}`,
    owners: [id],
    statements: [
      ...Policies.flatMap(({ PolicyDocument: document }) => statementsIn(document)),
      ...attached.flatMap(([, policy]) => documentOf(policy, resolve)),
    ],
  };
}

const POLICIES = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'];

const documentOf = ({ Properties }: Resource, resolve: Resolve): readonly Statement[] =>
  statementsIn(resolve(Properties['PolicyDocument']) as PolicyDocument);

/** The statements of resource policies, by the ARN of the resource that they are attached to. */
export function resourcePoliciesOf({
  template,
  resolve,
}: Deployed): ReadonlyMap<string, readonly Statement[]> {
  const all = Object.entries(template.Resources).flatMap(([id, resource]) =>
    (ATTACHED[resource.Type]?.(resolve(resource.Properties) as never, id) ?? []).map(
      (each): readonly [string, readonly Statement[]] => each,
    ),
  );
  const byArn = new Map<string, readonly Statement[]>();
  for (const [arn, statements] of all) byArn.set(arn, [...(byArn.get(arn) ?? []), ...statements]);
  return byArn;
}

type Attached = readonly (readonly [arn: string, statements: readonly Statement[]])[];

type Permission = {
  readonly FunctionName: string;
  readonly Action: string;
  readonly Principal: string;
  readonly SourceArn?: string;
  readonly SourceAccount?: string;
};

type WithDocument = {
  readonly PolicyDocument: PolicyDocument;
  readonly Bucket: string;
  readonly Queues: readonly string[];
  readonly Topics: readonly string[];
};

const ATTACHED: Readonly<Record<string, (properties: never, id: string) => Attached>> = {
  'AWS::S3::BucketPolicy': ({ Bucket, PolicyDocument }: WithDocument) => [
    [`arn:aws:s3:::${Bucket}`, statementsIn(PolicyDocument)],
  ],
  'AWS::SQS::QueuePolicy': ({ Queues, PolicyDocument }: WithDocument) =>
    Queues.map((url) => [arnHere('sqs', lastOf(url)), statementsIn(PolicyDocument)]),
  'AWS::SNS::TopicPolicy': ({ Topics, PolicyDocument }: WithDocument) =>
    Topics.map((arn) => [arn, statementsIn(PolicyDocument)]),
  'AWS::KMS::Key': ({ KeyPolicy }: { readonly KeyPolicy: PolicyDocument }, id) => [
    [arnHere('kms', `key/${id}`), statementsIn(KeyPolicy)],
  ],
  'AWS::IAM::Role': (
    { AssumeRolePolicyDocument }: { readonly AssumeRolePolicyDocument: PolicyDocument },
    id,
  ) => [[`arn:aws:iam::${ACCOUNT}:role/${id}`, statementsIn(AssumeRolePolicyDocument)]],
  'AWS::Lambda::Permission': ({ FunctionName, Action, Principal, SourceArn, SourceAccount }: Permission) => {
    const arn = FunctionName.startsWith('arn:')
      ? FunctionName
      : arnHere('lambda', `function:${FunctionName}`);
    const Condition = {
      ...(SourceArn === undefined ? {} : { ArnLike: { 'aws:SourceArn': SourceArn } }),
      ...(SourceAccount === undefined ? {} : { StringEquals: { 'aws:SourceAccount': SourceAccount } }),
    };
    return [[arn, [{ Effect: 'Allow', Principal: { Service: Principal }, Action, Condition }]]];
  },
};

/** The keys that resources of the template are encrypted with, by the ARN of the bucket, table, secret, queue or topic. */
export function keysOf({ template, resolve }: Deployed): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) => {
      const find = KEYS[Type];
      const key = find && Properties && find.keyIn(resolve(Properties) as never);
      return find === undefined || key === undefined ? [] : [[find.arnOf(id), arnOfKey(key)]];
    }),
  );
}

const arnOfKey = (key: string) => (key.startsWith('arn:') ? key : arnHere('kms', `key/${key}`));

type Encrypted = {
  readonly keyIn: (properties: never) => string | undefined;
  readonly arnOf: (id: string) => string;
};

type BucketProperties = {
  readonly BucketEncryption?: {
    readonly ServerSideEncryptionConfiguration: readonly [
      { readonly ServerSideEncryptionByDefault?: { readonly KMSMasterKeyID?: string } },
    ];
  };
};

const KEYS: Readonly<Record<string, Encrypted>> = {
  'AWS::S3::Bucket': {
    arnOf: (id) => `arn:aws:s3:::${id.toLowerCase()}`,
    keyIn: ({ BucketEncryption }: BucketProperties) =>
      BucketEncryption?.ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault?.KMSMasterKeyID,
  },
  'AWS::DynamoDB::Table': {
    arnOf: (id) => arnHere('dynamodb', `table/${id}`),
    keyIn: ({ SSESpecification }: { readonly SSESpecification?: { readonly KMSMasterKeyId?: string } }) =>
      SSESpecification?.KMSMasterKeyId,
  },
  'AWS::SecretsManager::Secret': {
    arnOf: (id) => arnHere('secretsmanager', `secret:${id}-AbCdEf`),
    keyIn: ({ KmsKeyId }: { readonly KmsKeyId?: string }) => KmsKeyId,
  },
  'AWS::SQS::Queue': {
    arnOf: (id) => arnHere('sqs', id),
    keyIn: ({ KmsMasterKeyId }: { readonly KmsMasterKeyId?: string }) => KmsMasterKeyId,
  },
  'AWS::SNS::Topic': {
    arnOf: (id) => arnHere('sns', id),
    keyIn: ({ KmsMasterKeyId }: { readonly KmsMasterKeyId?: string }) => KmsMasterKeyId,
  },
};

const arnHere = (service: string, place: string) => `arn:aws:${service}:${REGION}:${ACCOUNT}:${place}`;

const lastOf = (path: unknown): string => String(path).split('/').at(-1) ?? '';
