import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type LocalGlue, startGlue } from '../../../lib/sandbox/aws/services/start-glue.ts';
import { openPartitions } from '../../../lib/snapshot/publish/open-partitions.ts';
import { type Partitions, PartitionsError } from '../../../lib/snapshot/publish/partitions.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';

const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };

/** How a table describes its parts. */
const description = {
  Columns: [{ Name: 'id', Type: 'string' }],
  Location: 's3://bucket/sync/data-files/',
  SerdeInfo: { SerializationLibrary: 'org.openx.data.jsonserde.JsonSerDe' },
};

let glue: LocalGlue;

beforeEach(async () => {
  glue = await startGlue({ database: 'sync', tables: { calculations: {}, data_files: description } });
});

afterEach(() => glue.close());

function partitionsIn(location: string): Partitions {
  const environment = {
    AWS_ENDPOINT_URL_GLUE: glue.endpoint,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'sandbox',
    AWS_SECRET_ACCESS_KEY: 'sandbox',
  };
  const partitions = openPartitions({ database: 'sync', store: { location }, environment });
  if (partitions === undefined) throw new Error('expected partitions, got none');
  return partitions;
}

const operations = () => glue.requests.map(({ operation }) => operation);

test('a partition names the run’s day and name, and describes its parts as the table does, in the run’s folder', async () => {
  await partitionsIn('s3://bucket/sync').add('data-files', monday);

  expect(glue.partitions('data_files')).toEqual([
    {
      Values: ['2026-11-16', '20261116T090000Z-aaaaaa'],
      StorageDescriptor: {
        ...description,
        Location: 's3://bucket/sync/data-files/dt=2026-11-16/run=20261116T090000Z-aaaaaa/',
      },
    },
  ]);
});

test('adding it again leaves one', async () => {
  const partitions = partitionsIn('s3://bucket/sync');
  await partitions.add('calculations', monday);
  const [before] = glue.partitions('calculations');

  await partitions.add('calculations', monday);

  expect(glue.partitions('calculations')).toEqual([before]);
});

test('a partition that points elsewhere is moved to the run’s current folder', async () => {
  await partitionsIn('s3://old-bucket').add('calculations', monday);

  await partitionsIn('s3://bucket').add('calculations', monday);

  expect(glue.partitions('calculations')).toMatchObject([
    {
      StorageDescriptor: {
        Location: 's3://bucket/calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/',
      },
    },
  ]);
});

test('a partition is removed, and removing a missing one is not an error', async () => {
  const partitions = partitionsIn('s3://bucket/sync');
  await partitions.add('calculations', monday);

  await partitions.remove('calculations', monday);
  await partitions.remove('calculations', monday);

  expect(glue.partitions('calculations')).toEqual([]);
  expect(operations()).toEqual(['GetTable', 'CreatePartition', 'DeletePartition', 'DeletePartition']);
});

test('a narrowed snapshot has no table: no request is sent', async () => {
  const partitions = partitionsIn('s3://bucket/sync');

  await partitions.add('calculations.finance', monday);
  await partitions.remove('calculations.finance', monday);

  expect(glue.requests).toEqual([]);
});

test('the error for a missing table says what was tried on what', async () => {
  const added = partitionsIn('s3://bucket/sync').add('cards', monday);

  const error = await added.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PartitionsError);
  expect(error).toMatchObject({ failure: { kind: 'no-table', code: 'EntityNotFoundException' } });
  expect(String(error)).toBe(
    'PartitionsError: add the partition 2026-11-16/20261116T090000Z-aaaaaa in sync.cards: no-table, EntityNotFoundException (Table cards not found.)',
  );
});

describe('without a database', () => {
  test('there are no partitions to add', () => {
    const opened = openPartitions({
      database: undefined,
      store: { location: 's3://bucket' },
      environment: {},
    });

    expect(opened).toBeUndefined();
  });
});
