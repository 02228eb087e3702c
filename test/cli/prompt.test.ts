import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { complete, runPrompt } from '../../lib/cli/query/prompt.ts';
import { openTables } from '../../lib/tables/duckdb/open-tables.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { publishTwoRuns } from '../tables/duckdb/published.ts';

const store = createMemoryStore();
await publishTwoRuns(store);
const tables = await openTables(store);

afterAll(() => tables[Symbol.asyncDispose]());

/** A prompt on streams that stand for a terminal of 60 columns. */
function openPrompt(historyFile?: string) {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 60 });
  let screen = '';
  output.on('data', (data: Buffer) => {
    screen += data.toString();
  });
  const stop = new AbortController();
  const ended = runPrompt({ tables, dialog: { input, output }, signal: stop.signal, historyFile });
  return {
    ended,
    stop,
    screen: () => screen,
    type: (text: string) => input.write(text),
    /** Waits until the text appears; returns what the screen showed since the previous call. */
    async shows(text: string): Promise<string> {
      for (let tries = 0; !screen.includes(text); tries += 1) {
        if (tries === 2_000) throw new Error(`expected ${text}, got ${screen}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const seen = screen;
      screen = '';
      return seen;
    },
  };
}

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const UP = '\u001b[A';

const folder = folderOfEach();

describe('the prompt', () => {
  test('runs a statement of several lines, and ends with Ctrl-D', async () => {
    const { type, shows, ended } = openPrompt();

    await shows('sql> ');
    type("SELECT id,\n';' AS mark\nFROM all_calculations\nWHERE name = 'Revenue'; SELECT 2 AS two;\n");
    const first = await shows('1 row, ');
    await shows('1 row, ');
    type(CTRL_D);

    expect(first).toContain('id    mark');
    expect(first).toContain('1036  ;');
    expect(await ended).toBe('done');
  });

  test('shows what is wrong, and continues', async () => {
    const { type, shows, ended } = openPrompt();

    type('SELECT nam FROM calculations;\n');
    const wrong = await shows('LINE 1');
    type('.columns calculation\n');
    await shows('expected the name of a table, got "calculation"; .tables lists all tables');
    type('.nothing\n');
    await shows('expected one of .tables, .columns, .saved, .help, .quit, got .nothing');
    type('.quit\n');

    expect(wrong).toContain('Binder Error');
    expect(await ended).toBe('done');
  });

  test('lists tables, columns, saved queries and help', async () => {
    const { type, shows, ended } = openPrompt();

    type('.tables\n');
    expect(await shows('failed_jobs(day)')).toContain(
      'all_calculations          a calculation, in any published run of calculations',
    );
    type('.columns runs\n');
    expect(await shows('platform')).toMatch(/startedat +TIMESTAMP/);
    type('.saved\n');
    await shows('what-changed-this-week');
    type('.saved broken-references\n');
    await shows('0 rows, ');
    type('.help\n');
    await shows('ends the prompt, like Ctrl-D');
    type(CTRL_D);

    expect(await ended).toBe('done');
  });

  test('stops the running query and drops the typed line on Ctrl-C', async () => {
    const { type, shows, ended } = openPrompt();

    await shows('sql> ');
    type('SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 1;\n');
    await new Promise((resolve) => setTimeout(resolve, 200));
    type(CTRL_C);
    await shows('stopped');
    type('SELECT (\n');
    await shows('  -> ');
    type(CTRL_C);
    await shows('sql> ');
    type('SELECT 3 AS three;\n');
    const after = await shows('1 row, ');
    type(CTRL_D);

    expect(after).toContain('three');
    expect(await ended).toBe('done');
  });

  test('ends when the process is to stop', async () => {
    const { type, shows, stop, ended } = openPrompt();

    await shows('sql> ');
    type('SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 1;\n');
    await shows('1;');
    stop.abort(new Error('stopped by SIGTERM'));

    expect(await ended).toBe('stopped');
  });

  test('recalls what was typed at an earlier prompt, from a file that only its owner can read', async () => {
    const file = join(folder.path, 'state', 'query-history');
    const first = openPrompt(file);
    await first.shows('sql> ');
    first.type('SELECT 41 AS\nless;\n');
    await first.shows('1 row, ');
    first.type(CTRL_D);
    await first.ended;
    await chmod(file, 0o644);

    const { type, shows, ended } = openPrompt(file);
    await shows('sql> ');
    type(`${UP}${UP}`);
    await shows('SELECT 41 AS');
    type(`${CTRL_C}SELECT 42 AS more;\n`);
    await shows('1 row, ');
    type(CTRL_D);

    expect(await ended).toBe('done');
    expect(await readFile(file, 'utf8')).toBe('SELECT 41 AS\nless;\nSELECT 42 AS more;\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test('completes names with Tab', async () => {
    const { type, shows, ended } = openPrompt();

    await shows('sql> ');
    type('SELECT lastmodified_');
    type('\t');
    await shows('at');
    type(' FROM calcu');
    type('\t');
    await shows('lations');
    type(';\n');
    await shows('1 row, ');
    type(CTRL_D);

    expect(await ended).toBe('done');
  });
});

describe('completion offers', () => {
  const columnsOf = (...names: readonly string[]) =>
    names.map((name) => ({ name, type: 'VARCHAR', about: '' }));
  const known = {
    tables: [
      { name: 'calculations', about: '', columns: columnsOf('id', 'owner') },
      { name: 'cards', about: '', columns: columnsOf('id', 'ownerid') },
    ],
    saved: ['broken-references', 'cards-by-dataset'],
    commands: ['.tables', '.saved'],
  };

  test.each([
    ['SELECT * FROM ca', ['calculations', 'cards'], 'ca'],
    ['SELECT own', ['owner', 'ownerid'], 'own'],
    ['SELECT own\nFROM cards WHERE own', ['ownerid'], 'own'],
    ['SELECT c.own', ['owner', 'ownerid'], 'own'],
    ['SELECT 1 wh', ['where', 'when', 'where_used('], 'wh'],
    ['SEL', ['SELECT'], 'SEL'],
    ['SELECT * FROM brok', ['broken_links()'], 'brok'],
    ['.ta', ['.tables'], '.ta'],
    ['.saved ca', ['cards-by-dataset'], 'ca'],
    ['SELECT xyz', [], 'xyz'],
  ])('%j', (typed, completions, replaced) => {
    const [found, part] = complete(typed, known);

    expect({ found: found.sort(), part }).toEqual({ found: [...completions].sort(), part: replaced });
  });
});
