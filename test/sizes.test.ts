import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultsIn, fragmentsIn, measure, namesAt, pastDoors, reachOf, readBounds } from './sizes.ts';

test('no size exceeds its bound, and each bound is lowered once its size falls', () => {
  expect(faultsIn(measure(), readBounds())).toEqual([]);
});

test('sizes that are too large, new or smaller are named with their bound and what to do', () => {
  const bounds = { 'lib: lines': 58_000, 'lib: files': 500, 'docs/old.md: words': 1_600 };
  const sizes = {
    'lib: lines': 58_001,
    'lib: files': 480,
    'docs/new.md: words': 1_501,
    'lib/store/index.ts: names': 35,
    'lib/table/index.ts: names': 36,
  };

  expect(faultsIn(sizes, bounds)).toEqual([
    expect.stringMatching(/^lib: lines: 58001, bound 58000 \(goal 53000\): make it smaller, or/),
    expect.stringMatching(/^lib: files: 480, bound 500: lower the bound by npm run/),
    expect.stringMatching(/^docs\/new.md: words: 1501, bound 1500 \(goal 1500\): make it smaller, or/),
    expect.stringMatching(/^lib\/table\/index.ts: names: 36, bound 35 \(goal 35\): make it smaller, or/),
    expect.stringMatching(/^docs\/old.md: words: 0, bound 1600 \(goal 1500\): lower the bound by npm run/),
  ]);
  expect(faultsIn({ 'lib: files': 495 }, { 'lib: files': 500 })).toEqual([]);
});

const HOUSE: Readonly<Record<string, string>> = {
  'functions/x/handler.ts':
    "import { b } from '../../lib/b/index.ts';\nimport type { T } from '../../lib/t/t.ts';\nimport './other.ts';",
  'functions/x/other.ts': "import { d } from '../../lib/b/d.ts';",
  'lib/b/index.ts': "export { c } from './c.ts';\nconst d = () => import('./d.ts');",
  'lib/b/c.ts': "import {\n  b,\n} from './e.ts';\nimport pino from 'pino';",
  'lib/b/d.ts': '',
  'lib/b/e.ts': "import { f } from '../settings.ts';\nimport '../f/inner/index.ts';",
  'lib/settings.ts': '',
  'lib/f/inner/index.ts': '',
};

test('an import that reaches into another room past its doors is named, whatever its form', () => {
  expect(pastDoors(HOUSE)).toEqual([
    'functions/x/handler.ts imports lib/t/t.ts',
    'functions/x/other.ts imports lib/b/d.ts',
  ]);
});

test('the reach of a handler counts the files loaded at its start, without types and lazy imports', () => {
  const reach = (entry: string) => reachOf(entry, (file) => HOUSE[file] ?? '');

  expect(reach('lib/b/index.ts')).toEqual({ files: 5, chain: 4 });
  expect(reach('functions/x/handler.ts')).toEqual({ files: 8, chain: 5 });
});

test('a fragment is a short file that only one other file loads', () => {
  const house = { ...HOUSE, 'lib/b/long.ts': '\n'.repeat(40), 'lib/b/g.ts': "import './long.ts';" };

  expect(fragmentsIn(Object.keys(house), (file) => house[file as keyof typeof house] ?? '')).toEqual([
    'functions/x/other.ts',
    'lib/b/c.ts',
    'lib/b/e.ts',
    'lib/settings.ts',
  ]);
});

test('all names that a door exports are counted, on any number of lines', () => {
  expect(
    namesAt(
      "export { a, type B } from './a.ts';\nexport type {\n  C,\n} from './c.ts';\nexport const d = 1;",
    ),
  ).toBe(4);
});

test('each door is in the table of docs/architecture.md, and a room has at most three', () => {
  const doors = Object.keys(measure()).flatMap(
    (name) => /^lib\/(.+)\/index\.ts: names$/.exec(name)?.[1] ?? [],
  );
  const page = readFileSync('docs/architecture.md', 'utf8');
  const rooms = Object.values(Object.groupBy(doors, (door) => door.split('/')[0] ?? ''));

  expect(doors.filter((door) => !page.includes(`\`lib/${door}\``) && !page.includes(`\`${door}\``))).toEqual(
    [],
  );
  expect(rooms.filter((of = []) => of.length > 3)).toEqual([]);
});
