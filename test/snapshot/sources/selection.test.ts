import { describe, expect, test } from 'vitest';
import { describeIds } from '../../../lib/snapshot/run/begin-run.ts';
import { sourceDefinitions } from '../../../lib/snapshot/sources/sources.ts';
import { respondingCall } from '../responding-call.ts';

describe('given ids', () => {
  test('are listed in full if they are few', () => {
    expect(describeIds(['40001', '40030'])).toEqual(['40001', '40030']);
  });

  test('are the same whatever their order and repetitions', () => {
    expect(describeIds(['b', 'a', 'b'])).toEqual(['a', 'b']);
  });

  test('are listed up to a thousand; beyond that their number and the sha256 of their lines are stored', () => {
    const ids = Array.from({ length: 1_001 }, (_, at) => String(40_000 + at));

    const listed = describeIds(ids.slice(0, 1_000));
    const counted = describeIds(ids);

    expect(listed).toEqual(ids.slice(0, 1_000));
    expect(counted).toEqual({
      count: 1_001,
      // As computed by `seq 40000 41000 | head -c -1 | sha256sum`.
      sha256: 'afd6cbfb3cb6dec7326c93b0a1d01125eda8e1070a3d7766017507cb097c9bc9',
    });
    expect(describeIds([...ids, '40000'].reverse())).toEqual(counted);
  });
});

describe('a selection', () => {
  const run = { call: respondingCall(() => '{}'), sleep: async () => undefined, ids: [] };

  test.each([
    ['calculations', {}],
    ['calculations', { name: 'revenue', filters: ['archived'] }],
    ['files', { filesets: ['0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11'], directory: '/2026', immediate: true }],
    ['files', { filesets: [], where: [{ field: 'size', operator: 'EQUALS', value: ['1'], not: true }] }],
    ['cards', { datasets: 'calculations', drill: true }],
    ['cards', { datasets: ['a'], drill: false }],
    ['data-files', { ids: { count: 1_001, sha256: 'ab' } }],
  ] as const)('of %s may be %j', async (source, selection) => {
    expect(await sourceDefinitions[source].openScan(selection, run)).toBeTypeOf('function');
  });

  test.each([
    ['calculations', { filesets: [] }],
    ['files', { directory: '/2026' }],
    ['files', { filesets: [], where: [{ field: 'size' }] }],
    ['cards', { datasets: 'calculations', drill: 'yes' }],
    ['data-files', { ids: ['1'], expand: [] }],
  ] as const)('of %s may not be %j', async (source, selection) => {
    await expect(sourceDefinitions[source].openScan(selection, run)).rejects.toThrow();
  });
});
