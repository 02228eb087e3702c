import { describe, expect, test } from 'vitest';
import { otherGlueTableOf } from '../../../lib/tables/catalog/table-names.ts';
import { openPartitions } from '../../../lib/tables/partitions/partitions.ts';
import { type GlueOptions, startGlue } from '../../local-aws/services/start-glue.ts';
import { describePartitions, monday } from './partitions-suite.ts';

const changes = {
  against: 'x',
  added: 1,
  removed: 0,
  changed: 0,
  key: 'changes/here/against=x/part.ndjson.gz',
};

/** The storage descriptor of a table. */
const description = {
  Columns: [{ Name: 'id', Type: 'string' }],
  Location: 's3://bucket/sync/data-files/',
  SerdeInfo: { SerializationLibrary: 'org.openx.data.jsonserde.JsonSerDe' },
};

const OF_CHANGES = { SerdeInfo: { SerializationLibrary: 'json' } };

async function openGlue(
  tables: GlueOptions['tables'] = { stored_calculations: {}, stored_data_files: description },
) {
  const glue = await startGlue({ database: 'sync', tables: { stored_changes: OF_CHANGES, ...tables } });
  return {
    partitionsIn(location: string): NonNullable<ReturnType<typeof openPartitions>> {
      const environment = {
        AWS_ENDPOINT_URL_GLUE: glue.endpoint,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'sandbox',
        AWS_SECRET_ACCESS_KEY: 'sandbox',
      };
      const partitions = openPartitions({ database: 'sync', store: { location }, environment });
      if (partitions === undefined) throw new Error('expected partitions, got none');
      return partitions;
    },
    description: async () => description,
    stored: async (table: string) => glue.partitions(table),
    operations: () => glue.requests.map(({ operation }) => operation),
    [Symbol.asyncDispose]: () => glue.close(),
  };
}

describePartitions('the partitions of a Glue table', () => openGlue());

test('a stored partition has only its values and its storage descriptor', async () => {
  await using glue = await openGlue();

  await glue.partitionsIn('s3://bucket/sync').add('calculations', monday, { changes: null });

  const [partition = {}] = await glue.stored('stored_calculations');
  expect(Object.keys(partition)).toEqual(['Values', 'StorageDescriptor']);
});

test('a partition is removed without reading it first', async () => {
  await using glue = await openGlue();
  const partitions = glue.partitionsIn('s3://bucket/sync');
  await partitions.add('calculations', monday, { changes: null });

  await partitions.remove('calculations', monday);

  expect(glue.operations()).toEqual([
    ...['GetTable', 'CreatePartition', 'DeletePartition'],
    ...['DeletePartition', 'DeletePartition'],
  ]);
});

describe('a narrowed snapshot', () => {
  const PLACE = 'calculations.Finance-North';
  const over = (folder: string) => ({
    Location: `s3://bucket/sync/parquet/${folder}/`,
    SerdeInfo: { SerializationLibrary: 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe' },
  });

  test.each([
    ['its name', 'stored_calculations_finance_north', {}],
    [
      'a name of its own, if another snapshot has that one',
      otherGlueTableOf(PLACE),
      { stored_calculations_finance_north: over('calculations.finance-north') },
    ],
  ])('has its partitions in the table that is named after %s', async (_name, table, others) => {
    await using glue = await openGlue({ ...others, [table]: over(PLACE) });
    const partitions = glue.partitionsIn('s3://bucket/sync');

    await partitions.add(PLACE, monday, { changes: null });
    const added = await glue.stored(table);
    await partitions.remove(PLACE, monday);

    const Location = `s3://bucket/sync/parquet/${PLACE}/dt=2026-11-16/run=20261116T090000Z-aaaaaa/`;
    expect(added).toMatchObject([{ StorageDescriptor: { ...over(PLACE), Location } }]);
    expect(await glue.stored(table)).toEqual([]);
    for (const other of Object.keys(others)) expect(await glue.stored(other)).toEqual([]);
  });

  test('gets only the partition of its changes if it has no table', async () => {
    await using glue = await openGlue({
      stored_calculations_finance_north: over('calculations.finance-north'),
    });
    const partitions = glue.partitionsIn('s3://bucket/sync');

    await partitions.add(PLACE, monday, { changes });
    const added = await glue.stored('stored_changes');
    await partitions.remove(PLACE, monday);

    expect(added).toMatchObject([{ Values: [PLACE, '2026-11-16', monday.id] }]);
    expect(glue.operations()).toEqual([
      ...['GetTable', 'GetTable', 'GetTable', 'CreatePartition'],
      ...['GetTable', 'GetTable', 'DeletePartition'],
    ]);
  });
});

describe('the changes of a run', () => {
  test('have a partition whose folder is that of the key in the manifest, and that moves with this key', async () => {
    await using glue = await openGlue();
    const partitions = glue.partitionsIn('s3://bucket/sync');
    await partitions.add('calculations', monday, {
      changes: { ...changes, key: 'changes/before/part.ndjson.gz' },
    });

    await partitions.add('calculations', monday, { changes });

    expect(await glue.stored('stored_changes')).toEqual([
      {
        Values: ['calculations', '2026-11-16', monday.id],
        StorageDescriptor: { ...OF_CHANGES, Location: 's3://bucket/sync/changes/here/against=x/' },
      },
    ]);
  });

  test('have no partition once the run is removed, or published again without changes', async () => {
    await using glue = await openGlue();
    const partitions = glue.partitionsIn('s3://bucket/sync');
    await partitions.add('calculations', monday, { changes });

    await partitions.add('calculations', monday, { changes: null });
    const without = await glue.stored('stored_changes');
    await partitions.add('calculations', monday, { changes });
    await partitions.remove('calculations', monday);

    expect([without, await glue.stored('stored_changes')]).toEqual([[], []]);
  });
});

test('without a database there are no partitions to add', () => {
  const opened = openPartitions({ database: undefined, store: { location: 's3://bucket' }, environment: {} });

  expect(opened).toBeUndefined();
});
