import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AccountPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { describe, expect, test } from 'vitest';
import { Catalog } from '../../infra/catalog.ts';
import { savedQueries } from '../../infra/saved-queries.ts';
import { readSettings } from '../../lib/settings.ts';

function synthesized(name = 'acme-sync', prefix: string | undefined = 'runs') {
  const stack = new Stack(new App(), name);
  const bucket = new Bucket(stack, 'Bucket');
  const catalog = new Catalog(stack, 'Catalog', { bucket, ...(prefix && { prefix }) });
  const role = new Role(stack, 'Publisher', { assumedBy: new AccountPrincipal('111122223333') });
  catalog.grantPublish(role);
  return { catalog, template: Template.fromStack(stack) };
}

type TableInput = {
  readonly Name: string;
  readonly TableType: string;
  readonly ViewOriginalText: string;
  readonly PartitionKeys: readonly unknown[];
  readonly StorageDescriptor: {
    readonly Columns: readonly { readonly Name: string; readonly Type: string }[];
    readonly Location: unknown;
    readonly SerdeInfo: unknown;
  };
};

const tablesOf = (template: Template, type: string) =>
  Object.values(template.findResources('AWS::Glue::Table'))
    .map(({ Properties }) => Properties.TableInput as TableInput)
    .filter(({ TableType }) => TableType === type);

describe('the tables', () => {
  test('are one per source, over its folder, partitioned by day and run', () => {
    const tables = tablesOf(synthesized().template, 'EXTERNAL_TABLE');

    expect(tables.map(({ Name }) => Name)).toEqual(['calculations', 'files', 'cards', 'data_files']);
    expect(tables.map(({ StorageDescriptor }) => JSON.stringify(StorageDescriptor.Location))).toEqual(
      ['calculations', 'files', 'cards', 'data-files'].map((source) =>
        expect.stringContaining(`"/runs/${source}/"`),
      ),
    );
    for (const { PartitionKeys, StorageDescriptor } of tables) {
      expect(PartitionKeys).toEqual([
        { Name: 'dt', Type: 'string' },
        { Name: 'run', Type: 'string' },
      ]);
      expect(StorageDescriptor.SerdeInfo).toMatchObject({
        SerializationLibrary: 'org.openx.data.jsonserde.JsonSerDe',
        Parameters: { 'ignore.malformed.json': 'false' },
      });
    }
  });

  test('have ids as text, and names of columns in lower case', () => {
    const tables = tablesOf(synthesized().template, 'EXTERNAL_TABLE');

    const columns = tables.flatMap(({ StorageDescriptor }) => StorageDescriptor.Columns);
    expect(columns.filter(({ Name, Type }) => /id$|^owner$/.test(Name) && Type !== 'string')).toEqual([]);
    expect(columns.filter(({ Name, Type }) => `${Name} ${Type}` !== `${Name} ${Type}`.toLowerCase())).toEqual(
      [],
    );
    expect(columns).toContainEqual({ Name: '_filesetid', Type: 'string' });
  });
});

describe('the views', () => {
  test('hold the query, its database and its columns as Athena’s types', () => {
    const { template, catalog } = synthesized();

    const [view] = tablesOf(template, 'VIRTUAL_VIEW');
    const [, base64 = ''] = /^\/\* Presto View: (\S+) \*\/$/.exec(view?.ViewOriginalText ?? '') ?? [];
    const { columns, ...rest } = JSON.parse(Buffer.from(base64, 'base64').toString());
    expect(rest).toEqual({
      originalSql:
        'SELECT *\nFROM calculations\nWHERE run = (SELECT max(run) FROM "calculations$partitions")',
      catalog: 'awsdatacatalog',
      schema: catalog.databaseName,
    });
    expect(columns).toContainEqual({
      name: 'links',
      type: 'array(row("resource" row("type" varchar,"id" varchar),"visible" boolean,"active" boolean,"valid" varchar))',
    });
    expect(columns).toContainEqual({ name: 'activelinks', type: 'map(varchar,array(varchar))' });
    expect(columns.slice(-2)).toEqual([
      { name: 'dt', type: 'varchar' },
      { name: 'run', type: 'varchar' },
    ]);
  });

  test('are one per source, with the columns of its table and its partitions', () => {
    const { template } = synthesized();
    const tables = tablesOf(template, 'EXTERNAL_TABLE');

    const views = tablesOf(template, 'VIRTUAL_VIEW');

    expect(views.map(({ Name, StorageDescriptor }) => [Name, StorageDescriptor.Columns])).toEqual(
      tables.map(({ Name, StorageDescriptor, PartitionKeys }) => [
        `latest_${Name}`,
        [...StorageDescriptor.Columns, ...PartitionKeys],
      ]),
    );
  });
});

describe('the workgroup', () => {
  test('stores the results of every query encrypted, in a folder that expires', () => {
    const { template } = synthesized();

    template.hasResourceProperties('AWS::Athena::WorkGroup', {
      RecursiveDeleteOption: true,
      WorkGroupConfiguration: {
        EnforceWorkGroupConfiguration: true,
        ResultConfiguration: {
          EncryptionConfiguration: { EncryptionOption: 'SSE_S3' },
          OutputLocation: { 'Fn::Join': ['', ['s3://', Match.anyValue(), '/runs/athena-results/']] },
        },
      },
    });
    template.hasResourceProperties('AWS::S3::Bucket', {
      LifecycleConfiguration: {
        Rules: [
          { Id: 'athena-results', Prefix: 'runs/athena-results/', ExpirationInDays: 30, Status: 'Enabled' },
        ],
      },
    });
  });

  test('encrypts them with the bucket’s key if it has one', () => {
    const stack = new Stack(new App(), 'keyed');
    const encryptionKey = new Key(stack, 'Key');
    const bucket = new Bucket(stack, 'Bucket', { encryption: BucketEncryption.KMS, encryptionKey });
    new Catalog(stack, 'Catalog', { bucket });

    Template.fromStack(stack).hasResourceProperties('AWS::Athena::WorkGroup', {
      WorkGroupConfiguration: {
        ResultConfiguration: {
          EncryptionConfiguration: {
            EncryptionOption: 'SSE_KMS',
            KmsKey: stack.resolve(encryptionKey.keyArn),
          },
        },
      },
    });
  });

  test('warns of a bucket from elsewhere, whose lifecycle it cannot set', () => {
    const stack = new Stack(new App(), 'borrowed');
    new Catalog(stack, 'Catalog', { bucket: Bucket.fromBucketName(stack, 'Bucket', 'theirs') });

    Annotations.fromStack(stack).hasWarning('/borrowed/Catalog', Match.stringLikeRegexp('athena-results/'));
  });

  test('holds every saved query, with its description', () => {
    const { template } = synthesized();

    const queries = Object.values(template.findResources('AWS::Athena::NamedQuery'));
    expect(queries.map(({ Properties }) => Properties.Name)).toEqual(savedQueries().map(({ name }) => name));
    for (const { Properties } of queries) expect(Properties.Description).toMatch(/^[A-Z].{40,}\.$/);
  });
});

describe('the right to publish', () => {
  test('covers the partitions of these tables, and nothing else', () => {
    const { template, catalog } = synthesized();

    const [policy] = Object.values(template.findResources('AWS::IAM::Policy'));
    const [statement, ...others] = policy?.Properties.PolicyDocument.Statement ?? [];
    expect(others).toEqual([]);
    expect(statement).toMatchObject({
      Effect: 'Allow',
      Action: ['glue:GetTable', 'glue:CreatePartition', 'glue:UpdatePartition', 'glue:DeletePartition'],
    });
    expect(statement.Resource.map(resourceOf)).toEqual([
      ':catalog',
      `:database/${catalog.databaseName}`,
      ...['calculations', 'files', 'cards', 'data_files'].map(
        (table) => `:table/${catalog.databaseName}/${table}`,
      ),
    ]);
  });
});

/** What an ARN names: the part after the account. */
const resourceOf = (arn: { readonly 'Fn::Join': readonly [string, readonly unknown[]] }) =>
  arn['Fn::Join'][1].at(-1);

describe('the database', () => {
  test('has a name that the setting accepts, a different one in each stack', () => {
    const [acme, other] = [synthesized('acme-sync').catalog, synthesized('Other-Sync').catalog];

    const read = readSettings({
      PLATFORM_BASE_URL: 'https://acme.example.com',
      PLATFORM_TOKEN: 'token',
      SYNC_STORE: 's3://bucket/runs',
      SYNC_GLUE_DATABASE: acme.databaseName,
    });
    expect(read.SYNC_GLUE_DATABASE).toBe(acme.databaseName);
    expect(acme.databaseName).toMatch(/^[a-z0-9_]+$/);
    expect(other.databaseName).not.toBe(acme.databaseName);
  });

  test('and all else are the same in two syntheses', () => {
    expect(synthesized().template.toJSON()).toEqual(synthesized().template.toJSON());
  });
});

test('without a prefix, the tables are at the bucket’s root', () => {
  const { template } = synthesized('plain', '');

  const [table] = tablesOf(template, 'EXTERNAL_TABLE');
  expect(JSON.stringify(table?.StorageDescriptor.Location)).toContain('"/calculations/"');
});
