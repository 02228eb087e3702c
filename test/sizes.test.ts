import { expect, test } from 'vitest';
import { faultsIn, measure, reachOf, readBounds } from './sizes.ts';

test('nothing is larger than its bound, and each bound follows what got smaller', () => {
  expect(faultsIn(measure(), readBounds())).toEqual([]);
});

test('what is too large, what is new and what fell is named with its bound and what to do', () => {
  const bounds = { 'lib/store: lines': 1_950, 'lib/table: lines': 1_000, 'docs/old.md: words': 1_600 };
  const sizes = { 'lib/store: lines': 1_951, 'lib/table: lines': 979, 'docs/new.md: words': 1_501 };

  expect(faultsIn(sizes, bounds)).toEqual([
    expect.stringMatching(/^lib\/store: lines: 1951, bound 1950 \(goal \d+\): make it smaller, or/),
    expect.stringMatching(/^lib\/table: lines: 979, bound 1000 \(goal \d+\): lower the bound by npm run/),
    expect.stringMatching(/^docs\/new.md: words: 1501, bound 0: make it smaller, or/),
    'docs/old.md: words: 0, bound 1600: lower the bound by npm run sizes -- --write',
  ]);
  expect(faultsIn({ 'lib/table: lines': 985 }, { 'lib/table: lines': 1_000 })).toEqual([]);
});

test('a way of the data reaches what it imports and re-exports, and neither types nor what is loaded when needed', () => {
  const files: Readonly<Record<string, string>> = {
    'lib/a.ts': "import { b } from './b/index.ts';\nimport type { T } from './t.ts';\nimport './a.ts';",
    'lib/b/index.ts': "export { c } from '../c.ts';\nconst d = () => import('../d.ts');",
    'lib/c.ts': "import {\n  b,\n} from './b/index.ts';\nimport pino from 'pino';",
  };

  expect(reachOf('lib/a.ts', (file) => files[file] ?? '')).toBe(3);
});
