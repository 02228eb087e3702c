import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { savedQueries } from '../../lib/tables/saved-queries.ts';

test('docs/tables.md lists the saved queries', () => {
  const page = readFileSync('docs/tables.md', 'utf8');
  const section = page.slice(page.indexOf('## Saved queries'));

  const listed = [...section.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, name]) => name);
  expect(listed).toEqual(savedQueries().map(({ name }) => name));
});
