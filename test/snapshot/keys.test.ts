import { expect, test } from 'vitest';
import { parquetFolder } from '../../lib/snapshot/keys.ts';

const run = { id: '20261122T101500Z-3fa9c1', startedAt: '2026-11-22T10:15:00.000Z' };

test('the Parquet of a place is stored under its name, in a folder for each day and run', () => {
  expect(parquetFolder('cards', run)).toBe('parquet/cards/dt=2026-11-22/run=20261122T101500Z-3fa9c1/');
});
