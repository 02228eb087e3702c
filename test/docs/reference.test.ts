import { expect, test } from 'vitest';
import { methodOf } from '../../build/reference/docstrings.ts';
import { pages } from '../../build/reference/pages.ts';
import { textOf } from './blocks.ts';

test.each(Object.entries(pages))(
  '%s is what `npm run reference` generates from the definitions',
  (page, make) => {
    expect(textOf(page)).toBe(make());
  },
);

test('generating the reference fails if it names a method that no longer exists', () => {
  expect(() => methodOf('lib/platform/client.ts', 'operations', 'files.gone')).toThrow('expected files.gone');
});
