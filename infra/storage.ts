import { Annotations, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { AttributeType, BillingMode, type ITable, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb';
import {
  AccountPrincipal,
  AnyPrincipal,
  ArnPrincipal,
  Effect,
  Grant,
  type IRole,
  type ManagedPolicy,
  PolicyStatement,
} from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type CfnBucket,
  type IBucket,
  type LifecycleRule,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { REPLACED, RUN_TAG } from '../lib/contract.ts';
import { isToken } from './config-fields.ts';
import type { Instance } from './config-schema.ts';
import { keyOf } from './given-table.ts';
import { lifecycleOf } from './lifecycle.ts';
import { acknowledge, acknowledgeWildcard, arnText } from './nag.ts';

export type StorageProps = Pick<
  Instance,
  'lifetimes' | 'schedules' | 'removal' | 'formerKeys' | 'encryption'
> &
  Omit<ExistingStorage, 'key'> & { readonly key: IKey | undefined };

/** Existing resources. */
export type ExistingStorage = {
  /**
   * An existing bucket, or its name; its owner manages lifecycle rules, versions and notifications. Default: the
   * construct creates one.
   */
  readonly bucket?: string | IBucket | undefined;
  /** The folder of this instance in the bucket, such as `teams/acme`. Default: the whole bucket. */
  readonly prefix?: string | undefined;
  /**
   * A KMS key, or its ARN, for the construct's bucket, table and secret, and for a bucket and a table given by
   * name. Default: keys of AWS, which cost nothing.
   */
  readonly key?: string | IKey | undefined;
  /** An existing table, left by another stack of this app, or its name. Default: the construct creates one. */
  readonly table?: string | ITable | undefined;
};

/** What permissions are granted to: a function's role, or a policy. */
type Grantee = IRole | ManagedPolicy;

/**
 * The bucket of snapshots and results, and the table of the rows that processes share. Both stay when the stack is
 * deleted. But they are deleted if its first deployment fails: they are empty, and would block the next deployment.
 */
export class Storage extends Construct {
  readonly bucket: IBucket;
  readonly table: ITable;
  /** The beginning of all keys: empty, or the prefix and a slash. */
  readonly root: string;
  /** The customer managed key that encrypts objects; undefined without one. */
  readonly objectKey: IKey | undefined;
  private readonly formerKeys: readonly string[];

  constructor(scope: Construct, id: string, props: StorageProps) {
    super(scope, id);
    const { bucket, prefix, table, key } = props;
    const withKey = key && { encryptionKey: key };
    this.root = prefix === undefined ? '' : `${prefix}/`;
    if (key !== undefined)
      Annotations.of(this).addInfoV2(
        'platform-sync:key',
        'key: before you change or remove it, add its ARN to formerKeys. Stored objects stay encrypted with this key and could not be read otherwise',
      );
    if (bucket !== undefined) this.warnOfMissing(lifecycleOf(props, this.root));
    this.bucket =
      typeof bucket === 'string'
        ? Bucket.fromBucketAttributes(this, 'GivenBucket', { bucketName: bucket, ...withKey })
        : (bucket ?? this.ownBucket(props));
    const { encryptionKey } = this.bucket;
    const [, headerKey] = /^aws:kms:(.+)$/.exec(props.encryption ?? '') ?? [];
    this.objectKey = headerKey === undefined ? encryptionKey : Key.fromKeyArn(this, 'ObjectKey', headerKey);
    // Objects from before the header was set are encrypted with the key of the bucket.
    const before = headerKey === undefined || encryptionKey === undefined ? [] : [encryptionKey.keyArn];
    this.formerKeys = [...props.formerKeys, ...before.filter((arn) => arn !== headerKey)];
    this.table =
      typeof table === 'string'
        ? Table.fromTableAttributes(this, 'GivenTable', { tableName: table, ...withKey })
        : (table ?? this.ownTable(props));
  }

  private ownBucket(props: StorageProps): Bucket {
    const { key, removal } = props;
    const bucket = new Bucket(this, 'Bucket', {
      ...guarded,
      ...(key === undefined
        ? {}
        : { encryption: BucketEncryption.KMS, encryptionKey: key, bucketKeyEnabled: true }),
      versioned: true,
      serverAccessLogsBucket: this.accessLogs(removal),
      ...removalOf(removal),
      lifecycleRules: lifecycleOf(props, this.root),
    });
    if (removal === 'protect')
      bucket.addToResourcePolicy(
        new PolicyStatement({
          effect: Effect.DENY,
          principals: [new AnyPrincipal()],
          actions: ['s3:DeleteBucket'],
          resources: [bucket.bucketArn],
        }),
      );
    // Set here, since CDK's own option for these notifications would add a Lambda function.
    (bucket.node.defaultChild as CfnBucket).notificationConfiguration = {
      eventBridgeConfiguration: { eventBridgeEnabled: true },
    };
    return bucket;
  }

  private ownTable({ key, removal }: StorageProps): Table {
    // Each row has a time to live: 30 days for a job, 90 days for a scored text.
    return new Table(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      timeToLiveAttribute: 'expires',
      billingMode: BillingMode.PAY_PER_REQUEST,
      ...(key === undefined
        ? { encryption: TableEncryption.AWS_MANAGED }
        : { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key }),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // A failed first deployment leaves an empty table, since it cannot delete a protected one.
      removalPolicy: removal === 'destroy' ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN,
      deletionProtection: removal !== 'destroy',
    });
  }

  /** Grants operations on rows, and the use of the table's key if it has its own. */
  grantRows(grantee: Grantee, ...actions: string[]): void {
    this.table.grant(grantee, ...actions);
    this.grantKey(grantee, keyOf(this.table), 'dynamodb', [
      'kms:Decrypt',
      'kms:DescribeKey',
      'kms:Encrypt',
      'kms:GenerateDataKey',
      'kms:ReEncryptFrom',
      'kms:ReEncryptTo',
    ]);
  }

  /** Grants the use of a key through the service whose data it encrypts, and decryption with former keys. */
  private grantKey(grantee: Grantee, key: IKey | undefined, service: 's3' | 'dynamodb', actions: string[]) {
    const conditions = this.through(service);
    if (key !== undefined) Grant.addToPrincipal({ grantee, actions, resourceArns: [key.keyArn], conditions });
    if (this.formerKeys.length === 0) return;
    // Both services share one statement, since policies are limited in size.
    Grant.addToPrincipal({
      grantee,
      actions: ['kms:Decrypt'],
      resourceArns: [...this.formerKeys],
      conditions: this.through('s3', 'dynamodb'),
    });
  }

  /**
   * The condition that a key is used through one of these services. The `*` is for China, where the
   * services have another domain.
   */
  private through(...services: readonly ('s3' | 'dynamodb')[]) {
    const [only, ...others] = services.map((each) => `${each}.${Stack.of(this).region}.amazonaws.com*`);
    return { StringLike: { 'kms:ViaService': others.length === 0 ? only : [only, ...others] } };
  }

  /** The store, in the form of SYNC_STORE. */
  get location(): string {
    return locationOf(this.bucket, this.root === '' ? undefined : this.root.slice(0, -1));
  }

  /** The ARN of the objects whose keys in this store match a pattern. */
  arnOf(pattern: string): string {
    return this.bucket.arnForObjects(`${this.root}${pattern}`);
  }

  /**
   * Grants reading in folders, or in the entire store. It includes the permission to list, without which S3 reports a
   * missing object as forbidden. For this check, S3 takes the object's key as the prefix of the listing.
   */
  grantRead(role: Grantee, patterns: readonly string[] = ['*']): void {
    this.grant(role, READS, patterns);
    this.grantKey(role, this.objectKey, 's3', ['kms:Decrypt']);
    Grant.addToPrincipal({
      grantee: role,
      actions: ['s3:ListBucket'],
      resourceArns: [this.bucket.bucketArn],
      ...(this.root === '' ? {} : { conditions: { StringLike: { 's3:prefix': `${this.root}*` } } }),
    });
  }

  /**
   * Grants writing in folders, also by multipart uploads, which may be aborted, and which decrypt their parts at
   * the end.
   */
  grantWrite(role: Grantee, folders: readonly string[]): void {
    this.grantKey(role, this.objectKey, 's3', ['kms:Decrypt', 'kms:GenerateDataKey']);
    this.grant(role, WRITES, folders);
  }

  /** Grants deleting objects in folders. */
  grantDelete(role: Grantee, folders: readonly string[]): void {
    this.grant(role, DELETES, folders);
  }

  /**
   * Grants reading, writing and deleting objects, and listing, reading and erasing their old versions, with few
   * statements, since a managed policy has at most 6,144 characters.
   */
  grantEverything(grantee: Grantee, folders: readonly string[]): void {
    const ofVersions = ['s3:GetObjectVersion', 's3:DeleteObjectVersion'];
    this.grantRead(grantee, []);
    this.grantWrite(grantee, []);
    this.grant(grantee, [...READS, ...WRITES, ...DELETES, ...ofVersions], folders);
    Grant.addToPrincipal({
      grantee,
      actions: ['s3:ListBucketVersions'],
      resourceArns: [this.bucket.bucketArn],
      conditions: { StringLike: { 's3:prefix': folders.map((folder) => `${this.root}${folder}`) } },
    });
  }

  /** Lets other accounts, or their roles, read folders. These accounts must also allow it. */
  allowReaders(readers: readonly string[], patterns: readonly string[]): void {
    if (readers.length === 0) return;
    const principals = readers.map((reader) =>
      // A CDK token may be an ARN or the id of an account: IAM accepts both here.
      isToken(reader) || reader.startsWith('arn:') ? new ArnPrincipal(reader) : new AccountPrincipal(reader),
    );
    const statements = [
      new PolicyStatement({
        principals,
        actions: ['s3:GetObject'],
        resources: patterns.map((pattern) => this.arnOf(pattern)),
      }),
      new PolicyStatement({
        principals,
        actions: ['s3:ListBucket'],
        resources: [this.bucket.bucketArn],
        conditions: { StringLike: { 's3:prefix': patterns.map((pattern) => `${this.root}${pattern}`) } },
      }),
    ];
    const added = statements.map((statement) => this.bucket.addToResourcePolicy(statement).statementAdded);
    const key = this.objectKey?.addToResourcePolicy(
      new PolicyStatement({
        principals,
        actions: ['kms:Decrypt'],
        resources: ['*'],
        conditions: this.through('s3'),
      }),
      true,
    );
    if (key?.statementAdded === false || this.formerKeys.length > 0)
      Annotations.of(this).addWarningV2(
        'platform-sync:given-key-readers',
        'readers: you manage the policies of the bucket’s key and of formerKeys. Readers cannot read until these policies let them decrypt',
      );
    if (!added.every(Boolean))
      Annotations.of(this).addWarningV2(
        'platform-sync:given-bucket-readers',
        'readers: you manage the policy of the bucket. Readers cannot read until this policy lets them',
      );
  }

  /** Grants tagging objects. Old runs expire by their tags. */
  grantTag(role: Grantee, folders: readonly string[]): void {
    this.grant(role, ['s3:PutObjectTagging'], folders);
  }

  private grant(role: Grantee, actions: string[], patterns: readonly string[]): void {
    if (patterns.length === 0) return;
    Grant.addToPrincipal({
      grantee: role,
      actions,
      resourceArns: patterns.map((pattern) => this.arnOf(pattern)),
    });
    for (const pattern of patterns) {
      const reason = `${actions.join(' and ')} of the objects at ${pattern}, whose names are not known in advance.`;
      acknowledgeWildcard(role, arnText(this, this.arnOf(pattern)), reason);
    }
  }

  /** Warns about the properties that an existing bucket should have. A bucket that the construct creates has them. */
  private warnOfMissing(rules: readonly LifecycleRule[]): void {
    const expire = rules.flatMap(({ prefix, expiration, tagFilters }) =>
      prefix === undefined || expiration === undefined
        ? []
        : [
            `${prefix} ${expiration.toDays()} days${tagFilters === undefined ? '' : ` (tag ${RUN_TAG}=${REPLACED})`}`,
          ],
    );
    Annotations.of(this).addWarningV2(
      'platform-sync:given-bucket',
      `you manage the settings of the bucket. It should have: versioning, access only over TLS, notifications to EventBridge (without them, requests in ${this.root}inbox/ are not scored, and tables of runs are built only at night), and expiry of ${expire.join(', ')}`,
    );
  }

  private accessLogs(removal: Instance['removal']): Bucket {
    const logs = new Bucket(this, 'AccessLogs', {
      ...guarded,
      objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
      ...removalOf(removal),
      lifecycleRules: [{ expiration: Duration.days(90) }],
    });
    acknowledge(
      logs,
      'S1',
      'It is the bucket of the access logs itself: logging access to it would create further logs forever.',
    );
    return logs;
  }
}

const READS = ['s3:GetObject'];
const WRITES = ['s3:PutObject', 's3:AbortMultipartUpload'];
const DELETES = ['s3:DeleteObject'];

/** The removal policies of resources that cannot be recreated. A failed first deployment always deletes them. */
export const REMOVAL = {
  retain: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  protect: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  destroy: RemovalPolicy.DESTROY,
} as const satisfies Record<Instance['removal'], RemovalPolicy>;

/** The removal policy of a bucket. AWS deletes only an empty bucket. */
const removalOf = (removal: Instance['removal']) => ({
  removalPolicy: REMOVAL[removal],
  autoDeleteObjects: removal === 'destroy',
});

/** A store, in the form of SYNC_STORE. */
export const locationOf = (bucket: string | IBucket, prefix?: string) =>
  `s3://${typeof bucket === 'string' ? bucket : bucket.bucketName}${prefix === undefined ? '' : `/${prefix}`}`;

const guarded = {
  encryption: BucketEncryption.S3_MANAGED,
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
} as const;
