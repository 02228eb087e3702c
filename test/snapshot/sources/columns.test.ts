import { describe, expect, test } from 'vitest';
import { sourceDefinitions, sources } from '../../../lib/snapshot/sources/sources.ts';

describe.each(sources)('the columns of %s', (source) => {
  const columns = Object.entries(sourceDefinitions[source].columns);

  test('have names that differ even if case is ignored', () => {
    const names = columns.map(([name]) => name.toLowerCase());

    expect(names).toEqual([...new Set(names)]);
  });

  test('have a timestamp only for a field of epoch milliseconds', () => {
    const of = columns.filter(([, type]) => type === 'timestamp').map(([name]) => name.replace(/_at$/, ''));

    expect(columns.filter(([name]) => of.includes(name)).map(([, type]) => type)).toEqual(
      of.map(() => 'bigint'),
    );
  });
});
