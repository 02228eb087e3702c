import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { groupNames, groups } from './groups.ts';

test.each(groupNames)('the group %s names code and tests that exist', (name) => {
  const { mutate, tests } = groups[name];

  for (const glob of [...mutate, ...tests]) expect(globSync(glob), glob).not.toEqual([]);
});
