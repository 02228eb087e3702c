import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import { StoreError } from '../../lib/store/error.ts';
import type { Store } from '../../lib/store/store.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { scaled } from '../scale.ts';
import { monday, publishLines, tuesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { calculation } from '../tables/duckdb/published.ts';
import { parseXml } from './parse-xml.ts';
import { beginCommand } from './run-command.ts';

const folder = folderOfEach();
let store: Store;

beforeEach(async () => {
  store = createMemoryStore();
  const lines = [calculation(1, 'Revenue'), calculation(2, 'Cost'), calculation(3, 'Margin')];
  await publishLines(store, { run: monday, lines });
});

const begin = (argv: readonly string[], more: Partial<Terminal> = {}) =>
  beginCommand(
    ['check', join(folder.path, 'rules'), ...argv],
    { SYNC_STORE: 'memory' },
    {
      openStore: async () => store,
      ...more,
    },
  );
const check = (...argv: readonly string[]) => begin(argv).ended;

async function rules(files: Readonly<Record<string, string | Buffer>>) {
  await mkdir(join(folder.path, 'rules'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, 'rules', name), text);
}

/** More rows than a rule may have for their keys to be stored. */
const ROWS = scaled(100_001, 1_000_000);
const NAMES = '-- No calculation is called so\n-- severity: error\nSELECT id, name FROM calculations WHERE ';

describe('platform-sync check', () => {
  test('prints each rule with its rows, and exits 3 if an error is violated', async () => {
    await rules({
      'a.sql': `${NAMES}name = 'Cost'`,
      'b.sql': '/* Few calculations; severity: warn */\nFROM calculations SELECT id;',
      'c.sql': `${NAMES}name = 'none'`,
      '._a.sql': 'what macOS writes',
      'readme.md': 'no rule',
    });

    const { code, out } = await check();

    expect(out.split('\n')).toEqual([
      'a.sql: error: No calculation is called so: 1 row (first run)',
      '    id  name',
      '    2   Cost',
      'b.sql: warning: Few calculations: 3 rows (first run)',
      ...['id', '1', '2', '3'].map((id) => `    ${id}`),
      'c.sql: passed: No calculation is called so: 0 rows (first run)',
      '3 rules: 1 error, 1 warning, 1 passed',
    ]);
    expect(code).toBe(3);
  });

  test('marks the rows that are new since the previous check, and lists them first', async () => {
    await rules({ 'a.sql': `${NAMES}name <> 'Cost' ORDER BY id` });
    await check();
    const lines = [calculation(0, 'Zero'), calculation(1, 'Renamed'), calculation(9, 'New')];
    await publishLines(store, { run: tuesday, lines });

    const { code, out } = await check('--json', '--limit', '2');

    expect(code).toBe(3);
    const [rule] = JSON.parse(out).rules;
    expect(rule).toMatchObject({ rows: 3, new: 2, gone: 1, since: expect.stringMatching(/^20.*Z$/) });
    expect(rule.listed).toEqual([
      { new: true, row: { id: '0', name: 'Zero' } },
      { new: true, row: { id: '9', name: 'New' } },
    ]);
  });

  test('exits 0 if only warnings are violated, and 1 if any rule could not be run', async () => {
    await rules({ 'a.sql': '-- severity: warn\nFROM calculations' });
    const warned = await check();
    await rules({ 'b.sql': `${NAMES}true`, 'c.sql': 'SELECT nonsense FROM calculations' });

    const { code, out } = await check();

    expect([warned.code, code]).toEqual([0, 1]);
    expect(warned.out).toContain('a.sql: warning: 3 rows');
    expect(out).toContain('c.sql: not run: Binder Error');
    expect(out).toContain('3 rules: 1 warning, 1 error, 1 not run');
  });

  test('names each rule that cannot be run, with the reason, and runs the other rules', async () => {
    const doubtful = Buffer.from([...Buffer.from("SELECT '"), 0x8e, 0x8a, 0x27]);
    const wrong: readonly (readonly [text: string | Buffer, message: string])[] = [
      ['SELECT 1; SELECT 2', 'expected one query, got 2 statements'],
      ['DELETE FROM calculations', 'expected a query that only reads (SELECT …), got DELETE'],
      ['-- Title', 'expected a query, got none'],
      ['-- Title\n\nSELECT id\nFROM calculations WERE id = 1', 'syntax error at or near "id"'],
      ['-- severity: fatal\nSELECT 1', 'severity: expected error or warn, got "fatal"'],
      ['-- severity:\nSELECT 1', 'severity: expected error or warn, got ""'],
      ['-- key: nr\nSELECT 1 AS id', 'key: expected columns of the rule (id), got "nr"'],
      [doubtful, 'expected a text in UTF-8, or in an encoding that is certain'],
      [Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0, 0]), 'expected a text'],
    ];
    await rules(Object.fromEntries(wrong.map(([text], at) => [`${at}.sql`, text])));
    await rules({ 'good.sql': 'SELECT 1 AS id' });

    const { code, out, err } = await check();

    expect({ code, err }).toEqual({ code: 1, err: '' });
    for (const [at, [, message]] of wrong.entries())
      expect(out.split('\n').find((line) => line.startsWith(`${at}.sql: not run: `))).toContain(message);
    expect(out).toContain('\nLINE 4: FROM calculations WERE id = 1\n');
    expect(out).toContain('good.sql: error: 1 row (first run)');
  });

  test('stops a rule that takes too long, and runs the other rules', async () => {
    const slow = 'SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7';
    await rules({ 'a.sql': slow, 'b.sql': `${NAMES}false` });

    const { code, out } = await check('--seconds', '3');

    expect(code).toBe(1);
    expect(out).toContain('a.sql: not run: the query took longer than 3 s and was stopped');
    expect(out).toContain('b.sql: passed');
  });

  test('stops within a rule on Ctrl-C, and does not record any row as seen', async () => {
    await rules({ 'a.sql': `${NAMES}true` });
    await rules({
      'b.sql': 'SELECT count(*) AS n FROM range(10000000) a, range(10000000) b WHERE a.range * b.range = 7',
    });
    const stop = new AbortController();
    const { ended } = begin([], {
      signal: stop.signal,
      out: (line) => void (line.startsWith('a.sql') && stop.abort(new Error('stopped by SIGINT'))),
    });

    expect(await ended).toMatchObject({ code: 130, err: 'interrupted: stopped as requested' });
    await rules({ 'b.sql': `${NAMES}false` });
    expect((await check()).out).toContain('a.sql: error: No calculation is called so: 3 rows (first run)');
  });

  test('counts all rows that violate a rule, but prints only a few', async () => {
    await rules({ 'a.sql': `SELECT range AS id FROM range(${ROWS})` });

    const first = await check();
    const second = await check('--json');

    expect(first.out).toContain(`${ROWS.toLocaleString('en')} rows (first run)`);
    expect(first.out).toContain(`and ${(ROWS - 20).toLocaleString('en')} more (--limit)`);
    const [rule] = JSON.parse(second.out).rules;
    expect(rule).toMatchObject({ rows: ROWS, new: null, gone: null });
    expect(rule.notes).toEqual([
      'it is unknown which rows are new: the last check had more than 100,000 rows',
    ]);
    expect(rule.listed).toHaveLength(1_000);
  });

  test('fails for a table of a source that has not been published, instead of treating it as empty', async () => {
    await rules({ 'a.sql': 'FROM cards' });

    expect((await check()).out).toContain('no run of cards is published: it has no rows');
  });

  test('exits 2 without rules, or without a folder of rules', async () => {
    const none = await check();
    await rules({ 'readme.md': 'no rule' });
    const empty = await check();

    expect([none.code, empty.code]).toEqual([2, 2]);
    expect(none.err).toContain(
      'rules: expected a folder with rules, each a file *.sql, got no such file or directory',
    );
    expect(empty.err).toContain('expected a folder with rules, each a file *.sql, got 1 other file');
  });
});

describe('the stored outcome of a check', () => {
  test('is small, and contains neither names nor values', async () => {
    await rules({ 'Größe.sql': `${NAMES}name = 'Cost'` });
    await check();

    const [key = ''] = (await Array.fromAsync(store.list('checks/'))).map((each) => each.key);

    expect(key).toMatch(/^checks\/[0-9a-f]{32}\.json$/);
    const body = (await store.get(key))?.body.toString() ?? '';
    expect(JSON.parse(body)).toMatchObject({ rule: 'rules/Größe.sql', key: ['id'], rows: 1 });
    expect(body).not.toContain('Cost');
  });

  test('does not replace an outcome that another check stored meanwhile', async () => {
    await rules({ 'a.sql': `${NAMES}name = 'Cost'` });
    const other: Store = {
      ...store,
      async put(key, body, options) {
        await store.put(key, Buffer.from(body.toString().replace('"rows": 1', '"rows": 7')));
        return store.put(key, body, options);
      },
    };

    const { code } = await begin([], { openStore: async () => other }).ended;

    expect(code).toBe(3);
    const [key = ''] = (await Array.fromAsync(store.list('checks/'))).map((each) => each.key);
    expect(JSON.parse((await store.get(key))?.body.toString() ?? '')).toMatchObject({ rows: 7 });
  });

  test('is compared row by row even if the SQL has changed, but not if the key of the rows has', async () => {
    await rules({ 'a.sql': `${NAMES}name = 'Cost'` });
    await check();

    await rules({ 'a.sql': `${NAMES}name IN ('Cost', 'Margin')` });
    const changed = await check();
    await rules({ 'a.sql': `-- key: name\n${NAMES}true` });
    const keyed = await check();

    expect(changed.out).toContain('2 rows, 1 new and 0 gone since');
    expect(changed.out).toContain(
      'its SQL has changed since the last check, so a new row may be an old violation',
    );
    expect(keyed.out).toContain(
      'it is unknown which rows are new: the last check identified rows by id, this check by name',
    );
  });

  test('is unchanged if the rule could not be run', async () => {
    await rules({ 'a.sql': `${NAMES}name = 'Cost'` });
    await check();
    await rules({ 'a.sql': 'SELECT nonsense' });
    await check();
    await rules({ 'a.sql': `${NAMES}name = 'Cost'` });

    expect((await check()).out).toContain('1 row, 0 new and 0 gone since');
  });

  test('is treated as missing if it is damaged, and is replaced', async () => {
    await rules({ 'a.sql': `${NAMES}name = 'Cost'` });
    await check();
    const [key = ''] = (await Array.fromAsync(store.list('checks/'))).map((each) => each.key);
    await store.put(key, Buffer.from('{"version":1'));

    const damaged = await check();
    const after = await check();

    expect(damaged.out).toContain('1 row (first run)');
    expect(after.out).toContain('1 row, 0 new and 0 gone since');
  });

  test('need not be stored if the store is read-only', async () => {
    await rules({ 'a.sql': `${NAMES}false` });
    const put = async (key: string) => {
      throw new StoreError(`put ${key}`, { kind: 'denied', code: 'AccessDenied' });
    };

    const { code, err } = await begin([], { openStore: async () => ({ ...store, put }) }).ended;

    expect(code).toBe(0);
    expect(err).toContain('warning: the outcome of this check is not stored: the next check compares');
  });
});

describe('--junit', () => {
  test('writes the outcomes as test cases', async () => {
    await rules({
      'a.sql': `-- A & B <"1"> \u0007\n${NAMES}name = 'Cost'`,
      'b.sql': '-- Few; severity: warn\nSELECT id FROM calculations WHERE id = 1',
      'c.sql': 'SELEC',
      'd.sql': `${NAMES}false`,
    });
    const file = join(folder.path, 'rules.xml');

    const { code, out } = await check('--junit', file);

    expect(code).toBe(1);
    expect(out).toContain('4 rules: 1 error, 1 warning, 1 not run, 1 passed');
    const [suites] = parseXml(await readFile(file, 'utf8'));
    expect(suites).toMatchObject({
      name: 'testsuites',
      attributes: { tests: '4', failures: '1', errors: '1' },
    });
    const [suite] = suites?.children ?? [];
    expect(suite).toMatchObject({ name: 'testsuite', attributes: { name: 'rules' } });
    const cases = suite?.children ?? [];
    expect(cases.map(({ attributes }) => attributes['name'])).toEqual([
      'a.sql: A & B <"1"> \ufffd',
      'b.sql: Few',
      'c.sql',
      'd.sql: No calculation is called so',
    ]);
    expect(cases.map(({ children: [child] }) => child?.name)).toEqual([
      'failure',
      'system-out',
      'error',
      'system-out',
    ]);
    expect(cases[0]?.children[0]?.text).toContain('2   Cost');
  });

  test('cannot be combined with --json, and a file that cannot be written is reported before a rule runs', async () => {
    await rules({ 'a.sql': `${NAMES}false` });

    const both = await check('--json', '--junit', 'rules.xml');
    const nowhere = await check('--junit', join(folder.path, 'none', 'rules.xml'));

    expect([both.code, nowhere.code]).toEqual([2, 2]);
    expect(nowhere.err).toContain('--junit');
    expect(nowhere.out).toBe('');
  });
});
