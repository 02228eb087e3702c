import { App, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { AccountPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, BucketEncryption } from 'aws-cdk-lib/aws-s3';
import { describe, expect, test } from 'vitest';
import { Catalog } from '../../infra/catalog.ts';
import { otherGlueTableOf, type Place } from '../../lib/contract.ts';
import { readSettings } from '../../lib/settings.ts';
import { savedQueries } from '../../lib/tables/catalog/saved-queries.ts';

function synthesized(
  name = 'acme-sync',
  prefix: string | undefined = 'runs',
  narrowed: readonly Place[] = [],
) {
  const stack = new Stack(new App(), name);
  const bucket = new Bucket(stack, 'Bucket');
  const catalog = new Catalog(stack, 'Catalog', { bucket, narrowed, ...(prefix && { prefix }) });
  const role = new Role(stack, 'Publisher', { assumedBy: new AccountPrincipal('111122223333') });
  catalog.grantPublish(role);
  return { catalog, template: Template.fromStack(stack) };
}

type TableInput = {
  readonly Name: string;
  readonly Description: string;
  readonly Parameters: Readonly<Record<string, unknown>>;
  readonly PartitionKeys: readonly { readonly Name: string; readonly Type: string }[];
  readonly StorageDescriptor: {
    readonly Columns: readonly { readonly Name: string; readonly Type: string }[];
    readonly Location: unknown;
    readonly InputFormat: string;
    readonly SerdeInfo: unknown;
  };
};

const tablesOf = (template: Template) =>
  Object.values(template.findResources('AWS::Glue::Table')).map(
    ({ Properties }) => Properties.TableInput as TableInput,
  );

function tableOf(template: Template, name: string): TableInput {
  const table = tablesOf(template).find(({ Name }) => Name === name);
  if (table === undefined) throw new Error(`expected a table ${name}`);
  return table;
}

const PARQUET = { SerializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe' };

test('there are tables of runs, of the latest runs, and of everything else that is stored', () => {
  expect(tablesOf(synthesized().template).map(({ Name }) => Name)).toEqual([
    ...'stored_calculations stored_files stored_cards stored_data_files'.split(' '),
    ...'stored_latest_calculations stored_latest_files stored_latest_cards stored_latest_data_files'.split(
      ' ',
    ),
    ...'stored_runs stored_jobs stored_refused stored_scores stored_formulas stored_changes'.split(' '),
    'stored_model_history',
    ...'stored_model_calculations stored_model_cards'.split(' '),
    ...'stored_model_datasets stored_model_owners stored_model_uses stored_model_formulas'.split(' '),
    ...'calculations all_calculations files all_files cards all_cards data_files all_data_files'.split(' '),
    ...'uses links datasets owners users model_history card_datasets filesets revisions formulas formula_log jobs'.split(
      ' ',
    ),
    ...'refused scores score_topics batches changes runs'.split(' '),
  ]);
});

test('every table says that ids are strings and stores them as such, and its columns are in lower case', () => {
  for (const { Name, Description, StorageDescriptor } of tablesOf(synthesized().template)) {
    // A view has no description: Glue marks a table as a view in the same field.
    if (/^stored_|_parquet$/.test(Name)) expect(Description).toContain("Ids are strings: WHERE id = '1036'.");
    else expect(Description).toBeUndefined();
    for (const { Name: column, Type } of StorageDescriptor.Columns) {
      expect(`${column} ${Type}`).toBe(`${column} ${Type}`.toLowerCase());
      if (/(?:^|_)id$|^owner$/.test(column)) expect([column, Type]).toEqual([column, 'string']);
    }
  }
});

describe('the tables of runs', () => {
  test('read the Parquet of a source, partitioned by day and run', () => {
    const { template } = synthesized();

    for (const [name, source] of [
      ['stored_calculations', 'calculations'],
      ['stored_data_files', 'data-files'],
    ] as const) {
      const { PartitionKeys, StorageDescriptor } = tableOf(template, name);
      expect(JSON.stringify(StorageDescriptor.Location)).toContain(`"/runs/parquet/${source}/"`);
      expect(PartitionKeys).toEqual([
        { Name: 'dt', Type: 'string' },
        { Name: 'run', Type: 'string' },
      ]);
      expect(StorageDescriptor.SerdeInfo).toMatchObject(PARQUET);
    }
  });

  test('have the same columns as the tables of the latest runs, which read a list of Parquet files', () => {
    const { template } = synthesized();

    for (const source of ['calculations', 'files', 'cards', 'data_files']) {
      const latest = tableOf(template, `stored_latest_${source}`);
      expect(latest.StorageDescriptor).toMatchObject({
        Columns: tableOf(template, `stored_${source}`).StorageDescriptor.Columns,
        InputFormat: 'org.apache.hadoop.hive.ql.io.SymlinkTextInputFormat',
        SerdeInfo: PARQUET,
      });
      expect(latest.PartitionKeys).toEqual([]);
      expect(JSON.stringify(latest.StorageDescriptor.Location)).toContain(
        `"/runs/parquet/latest/${source.replace('_', '-')}/"`,
      );
    }
  });

  test('include one for all runs of each narrowed place, and their names differ even in lower case', () => {
    const { template } = synthesized('narrowed', '', [
      'calculations.Sales-North',
      'files.a-b',
      'files.a_b',
      'files.A_B',
    ]);

    const names = tablesOf(template).map(({ Name }) => Name);
    expect(names).toHaveLength(new Set(names).size);
    expect(names.filter((name) => /^stored_files_a_b_[0-9a-f]{6}$/.test(name))).toHaveLength(2);
    expect(names).toContain('stored_calculations_sales_north');
    expect(names).toContain(otherGlueTableOf('files.a-b'));
    expect(names).toContain(otherGlueTableOf('files.A_B'));
    const history = tableOf(template, 'stored_files_a_b');
    expect(JSON.stringify(history.StorageDescriptor.Location)).toContain('"/parquet/files.a_b/"');
    expect(history.PartitionKeys.map(({ Name }) => Name)).toEqual(['dt', 'run']);
  });
});

describe('the tables that read JSON', () => {
  test('need no partitions to be added for jobs, because type and day determine them', () => {
    const { Parameters, PartitionKeys, StorageDescriptor } = tableOf(synthesized().template, 'stored_jobs');

    expect(PartitionKeys.map(({ Name }) => Name)).toEqual(['type', 'dt']);
    expect(Parameters).toMatchObject({
      'projection.enabled': 'true',
      'projection.type.type': 'enum',
      'projection.type.values': 'run-function,score,update-formula,data-files,snapshot',
      'projection.dt.type': 'date',
      'projection.dt.range': 'NOW-150DAYS,NOW+1DAYS',
    });
    expect(JSON.stringify(Parameters['storage.location.template'])).toMatch(
      /\/runs\/results\/\$\{type\}\/dt=\$\{dt\}\//,
    );
    expect(StorageDescriptor.Columns.filter(({ Type }) => Type !== 'string')).toEqual([
      { Name: 'attempts', Type: 'bigint' },
    ]);
  });

  test('have partitions of changes by place, day and run, which publishing adds', () => {
    const { Parameters, PartitionKeys } = tableOf(synthesized().template, 'stored_changes');

    expect(PartitionKeys.map(({ Name }) => Name)).toEqual(['place', 'dt', 'run']);
    expect(Parameters).toEqual({ EXTERNAL: 'TRUE', classification: 'json' });
  });

  test('find JSON members by their exact names, because names in responses may differ only in case', () => {
    const { SerdeInfo } = tableOf(synthesized().template, 'stored_jobs').StorageDescriptor;

    expect(SerdeInfo).toMatchObject({
      SerializationLibrary: 'org.openx.data.jsonserde.JsonSerDe',
      Parameters: {
        'case.insensitive': 'false',
        'mapping.startedat': 'startedAt',
        'mapping.finishedat': 'finishedAt',
        'ignore.malformed.json': 'false',
      },
    });
  });
});

describe('the Athena workgroup', () => {
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

  test('encrypts results with the bucket’s key if the bucket has one', () => {
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

  test('causes a warning if the bucket exists already, because the construct cannot set its lifecycle', () => {
    const stack = new Stack(new App(), 'borrowed');
    new Catalog(stack, 'Catalog', { bucket: Bucket.fromBucketName(stack, 'Bucket', 'theirs') });

    Annotations.fromStack(stack).hasWarning('/borrowed/Catalog', Match.stringLikeRegexp('athena-results/'));
  });

  test('contains every saved query, with its description', () => {
    const { template } = synthesized();

    const queries = Object.values(template.findResources('AWS::Athena::NamedQuery'));
    expect(queries.map(({ Properties }) => Properties.Name)).toEqual(savedQueries().map(({ name }) => name));
    for (const { Properties } of queries) expect(Properties.Description).toMatch(/^[A-Z].{40,}\.$/);
  });
});

test('the name of the database is a valid value of its setting, and differs in each stack', () => {
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
