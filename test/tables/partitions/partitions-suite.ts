import { describe, expect, test } from 'vitest';
import { AwsError } from '../../../lib/base/aws/index.ts';
import type { Run } from '../../../lib/snapshot/keys.ts';
import type { openPartitions } from '../../../lib/tables/partitions/partitions.ts';

/** A database with the tables `stored_calculations` and `stored_data_files`, and no others. */
export type GlueUnderTest = {
  /** The partitions of the database for a store at this location. */
  readonly partitionsIn: (location: string) => NonNullable<ReturnType<typeof openPartitions>>;
  /** The storage descriptor of a table. */
  readonly description: (table: string) => Promise<object>;
  /** The partitions of a table, with the values and storage descriptor of each. */
  readonly stored: (table: string) => Promise<readonly object[]>;
} & AsyncDisposable;

export const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const values = ['2026-11-16', '20261116T090000Z-aaaaaa'];

/** The manifest of a run that was not compared. */
const manifest = { changes: null };

/** Tests what publishing does to partitions, on each stand-in for Glue. `open` creates a database. */
export function describePartitions(name: string, open: () => Promise<GlueUnderTest>): void {
  describe(name, () => {
    test('a partition names the run’s day and name, and describes its parts as the table does, in the run’s folder', async () => {
      await using glue = await open();

      await glue.partitionsIn('s3://bucket/sync').add('data-files', monday, manifest);

      expect(await glue.stored('stored_data_files')).toEqual([
        {
          Values: values,
          StorageDescriptor: {
            ...(await glue.description('stored_data_files')),
            Location: `s3://bucket/sync/parquet/data-files/dt=2026-11-16/run=20261116T090000Z-aaaaaa/`,
          },
        },
      ]);
    });

    test('adding a partition again leaves one', async () => {
      await using glue = await open();
      const partitions = glue.partitionsIn('s3://bucket/sync');

      await partitions.add('calculations', monday, manifest);
      const before = await glue.stored('stored_calculations');

      await partitions.add('calculations', monday, manifest);

      expect(before).toMatchObject([{ Values: values }]);
      expect(await glue.stored('stored_calculations')).toEqual(before);
    });

    test('a partition that points elsewhere is moved to the run’s current folder', async () => {
      await using glue = await open();
      await glue.partitionsIn('s3://old-bucket').add('calculations', monday, manifest);

      await glue.partitionsIn('s3://bucket').add('calculations', monday, manifest);

      const Location = `s3://bucket/parquet/calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/`;
      expect(await glue.stored('stored_calculations')).toMatchObject([{ StorageDescriptor: { Location } }]);
    });

    test('a partition is removed, and removing a missing one is not an error', async () => {
      await using glue = await open();
      const partitions = glue.partitionsIn('s3://bucket/sync');
      await partitions.add('calculations', monday, manifest);

      await partitions.remove('calculations', monday);
      await partitions.remove('calculations', monday);

      expect(await glue.stored('stored_calculations')).toEqual([]);
    });

    test('the error of a missing table names the operation and the partition', async () => {
      await using glue = await open();

      const added = glue.partitionsIn('s3://bucket/sync').add('cards', monday, manifest);

      const error = await added.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(AwsError);
      expect(error).toMatchObject({ failure: { kind: 'missing', code: 'EntityNotFoundException' } });
      expect(String(error)).toMatch(
        /^AwsError: add the partition 2026-11-16\/20261116T090000Z-aaaaaa in \w+\.stored_cards: EntityNotFoundException: .+$/,
      );
    });
  });
}
