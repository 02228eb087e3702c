import { mkdirSync, mkdtempDisposableSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { optionalPeers } from '../../lib/base/optional-peer.ts';
import { licencesIn } from './licences.ts';

test('every package that a user installs has an allowed licence', () => {
  const packages = licencesIn('.');

  expect(packages.filter(({ isAllowed }) => !isAllowed)).toEqual([]);
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.map(({ name }) => name)).toEqual(
    expect.arrayContaining(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })),
  );
  expect(packages.map(({ name }) => name)).not.toContain('vitest');
});

test.each([
  ['MIT', true],
  ['(MIT OR GPL-3.0-only)', true],
  ['Apache-2.0 AND MIT', true],
  ['GPL-3.0-only', false],
  ['MIT AND LGPL-2.1-only', false],
  ['AGPL-3.0-or-later', false],
  ['SEE LICENSE IN LICENSE.md', false],
  ['UNLICENSED', false],
  [undefined, false],
])('the licence %s is allowed: %s', (license, isAllowed) => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'licences-'));
  const files = {
    'package-lock.json': {
      packages: {
        '': { peerDependencies: { '@a/b': '1.0.0' } },
        'node_modules/@a/b': { version: '1.0.0', license: 'MIT', dev: true, dependencies: { d: '1.0.0' } },
        'node_modules/@a/b/node_modules/d': { version: '1.0.0', license: 'MIT', dev: true },
        'node_modules/c': { version: '1.0.0', license: 'GPL-3.0-only', dev: true },
      },
    },
    'node_modules/@a/b/package.json': { license },
    'node_modules/@a/b/node_modules/d/package.json': { license: 'MIT' },
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), JSON.stringify(content));
  }

  const packages = licencesIn(folder.path);

  expect(packages).toEqual([
    { name: '@a/b', version: '1.0.0', licence: license, isAllowed },
    { name: 'd', version: '1.0.0', licence: 'MIT', isAllowed: true },
  ]);
});

const manifest: Readonly<
  Record<'dependencies' | 'devDependencies' | 'peerDependencies', Readonly<Record<string, string>>>
> = JSON.parse(readFileSync('package.json', 'utf8'));

/** The report's page is bundled with its imports when the package is built, so users do not install them. */
const PAGE = join('lib', 'report', 'page/');

/** The packages that files import at run time, without type-only imports. */
const imported = new Set(
  ['lib', 'functions']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((path) => join(folder, String(path))))
    .filter((path) => path.endsWith('.ts') && !path.startsWith(PAGE))
    .flatMap((path) => [
      ...readFileSync(path, 'utf8').matchAll(
        /^(?:import|export) (?!type )[^;]*?from '([^.'][^']*)'|import\('([^.'][^']*)'\)/gm,
      ),
    ])
    .map(([, named, loaded]) => named ?? loaded ?? '')
    .filter((name) => !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    ),
);

test('the dependencies and optional peers of the package are exactly what lib and functions import at run time', () => {
  const { dependencies, peerDependencies } = manifest;
  const { 'aws-cdk-lib': _, constructs: __, ...peers } = peerDependencies;

  expect([...imported].sort()).toEqual(Object.keys({ ...dependencies, ...peers }).sort());
});

test('the version of an optional peer is the one that the tests use or newer, and the one that commands name', () => {
  for (const [peer, { version }] of Object.entries(optionalPeers)) {
    const tested = manifest.devDependencies[peer] ?? '';
    const isOfAws = peer.startsWith('@aws-sdk/');
    expect([peer, manifest.peerDependencies[peer]]).toEqual([peer, isOfAws ? `^${tested}` : tested]);
    expect([peer, version]).toEqual([peer, isOfAws ? tested.split('.')[0] : tested]);
  }
});
