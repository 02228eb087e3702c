import { existsSync, readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { expect, test } from 'vitest';

const PAGE = readFileSync('docs/decisions/0001-what-irreversible-acts-rest-on.md', 'utf8');

/** What is awaited, or is called so, is no map or set. */
const DELETES = /\bawait\b[^;\n]*\.(delete|erase)\(|\b(store|table|queue)\??\.(delete|erase)\(/;

/** The reference platform deletes what is its own. */
const isOurs = (path: string) => !path.startsWith('lib/sandbox/');

const named = [...PAGE.matchAll(/`([\w/-]+\.ts)`/g)].flatMap(([, path = '']) =>
  path.startsWith('test/') ? [] : [`lib/${path}`],
);

test('each file that deletes from a store, a table or a queue is in the page of what that rests on', async () => {
  const deleting: string[] = [];
  for await (const path of glob('{lib,functions}/**/*.ts'))
    if (isOurs(path) && DELETES.test(readFileSync(path, 'utf8'))) deleting.push(path);

  expect(deleting.length).toBeGreaterThan(10);
  expect(deleting.filter((path) => !named.includes(path))).toEqual([]);
});

test('each file that the page names is there, and deletes', () => {
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
  expect(named.filter((path) => !/\.(delete|erase)\(/.test(readFileSync(path, 'utf8')))).toEqual([]);
});
