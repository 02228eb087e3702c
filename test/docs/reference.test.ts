import { expect, test } from 'vitest';
import { columnsPage } from '../../build/reference/columns-page.ts';
import { memberOf } from '../../build/reference/docstrings.ts';
import { referencePage } from '../../build/reference/page.ts';
import { textOf } from './blocks.ts';

test('docs/reference.md is what `npm run reference` makes of the docstrings', () => {
  expect(textOf('docs/reference.md')).toBe(referencePage());
});

test('docs/columns.md is what `npm run reference` makes of the tables', () => {
  expect(textOf('docs/columns.md')).toBe(columnsPage());
});

test('a method that is gone is found', () => {
  expect(() => memberOf('lib/platform/client.ts', 'Platform', 'files.gone')).toThrow('expected files.gone');
});
