import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { monday } from '../snapshot/changes/publish-lines.ts';
import { publishTwoRuns } from '../tables/duckdb/published.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfAll();

beforeAll(() => publishTwoRuns(createDirectoryStore(join(folder, 'store'))));

async function query(argv: readonly string[], more: Partial<Terminal> & { readonly input?: string } = {}) {
  const { input, ...rest } = more;
  return runCommand(['query', ...argv], { SYNC_STORE: join(folder, 'store') }, input, rest);
}

const IDS = 'SELECT id, name, locked FROM all_calculations ORDER BY run, id';

describe('query prints rows', () => {
  test('as a table', async () => {
    const { code, out, err } = await query([IDS]);

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.split('\n')).toEqual([
      'id                              name     locked',
      '1036                            Revenue  true',
      '123456789012345678901234567890  Cost',
      '123456789012345678901234567890  Cost',
    ]);
  });

  test('as CSV for Excel with a byte order mark, to the terminal and to a file, and with safe cells on request', async () => {
    const file = join(folder, 'excel.csv');
    const flags = ['--csv-for', 'excel', '--csv-safe'];

    const { out } = await query(["SELECT 'Größe' AS a, '=1+1' AS b, -1 AS c", '--csv', ...flags]);
    await query(["SELECT 'Größe' AS a, '=1+1' AS b, -1 AS c", '--csv', file, ...flags]);

    expect(out).toBe("\uFEFFa,b,c\r\nGröße,'=1+1,-1\r");
    expect(await readFile(file, 'utf8')).toBe(`${out}\n`);
  });

  test('in the width of the terminal', async () => {
    const { out, err } = await query(['SELECT id, name, dt FROM calculations'], { width: 34 });

    expect(out.split('\n')).toEqual(['id                name  dt', '123456789012345…  Cost  2026-11-17']);
    expect(err).toBe('');
  });

  test('with as many columns as fit', async () => {
    const { out, err } = await query(['SELECT id, name, owner, status, dt, run FROM calculations'], {
      width: 30,
    });

    expect(out.split('\n').every((line) => line.length <= 30)).toBe(true);
    expect(err).toMatch(/^\d of 6 columns are not shown: select fewer columns, or use --json$/);
  });

  test('as one JSON value with --json', async () => {
    const { out } = await query([IDS, '--json']);

    expect(JSON.parse(out)).toEqual([
      { id: '1036', name: 'Revenue', locked: true },
      { id: '123456789012345678901234567890', name: 'Cost', locked: null },
      { id: '123456789012345678901234567890', name: 'Cost', locked: null },
    ]);
    expect((await query(['SELECT id FROM cards', '--json'])).out).toBe('[]');
  });

  test('as CSV with --csv', async () => {
    const { out } = await query([
      `SELECT 'a"b,c' AS "x,y", '' AS empty, NULL AS none, [1, 2] AS list, 'd\r\ne' AS lines`,
      '--csv',
    ]);

    // `out` lacks the last line feed, which the terminal adds.
    expect(`${out}\n`).toBe('"x,y",empty,none,list,lines\r\n"a""b,c","",,"[1,2]","d\r\ne"\r\n');
  });

  test('into a file with --csv FILE, compressed by its name', async () => {
    const file = join(folder, 'out.csv.gz');

    const { code, out } = await query(["SELECT 'a,b' AS x, 1 AS y", '--csv', file]);

    expect({ code, out }).toEqual({ code: 0, out: `${file}: 1 row` });
    expect(gunzipSync(await readFile(file)).toString()).toBe('x,y\r\n"a,b",1\r\n');
  });

  test('but not into a folder that does not exist', async () => {
    const { code, err } = await query(['SELECT 1', '--csv', join(folder, 'gone', 'x.csv')]);

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/--csv .*x\.csv: expected a file that can be written/),
    });
  });

  test('on standard output if --csv comes before the SQL', async () => {
    expect((await query(['--csv', 'SELECT 1 AS x'])).out).toBe('x\r\n1\r');
  });

  test('into a file with --parquet', async () => {
    const file = join(folder, 'out.parquet');

    const { code, out } = await query([IDS, '--parquet', file]);

    expect({ code, out }).toEqual({ code: 0, out: `${file}: 3 rows` });
    expect((await readdir(folder)).sort()).toEqual(['excel.csv', 'out.csv.gz', 'out.parquet', 'store']);
  });

  test('of a query from standard input with -', async () => {
    expect(await query(['-', '--json'], { input: `${IDS};\n` })).toMatchObject({ code: 0 });
  });
});

test('query prints no control characters to the terminal', async () => {
  const evil = 'SELECT \'a\u001b[2J\u0007b\' AS "c\u001b[2J"';

  expect((await query([evil])).out).toBe('c\na b');
  expect((await query([evil, '--csv'], { width: 80 })).out).not.toContain('\u001b');
  expect((await query([evil, '--json'])).out).not.toContain('\u001b');
});

test('query names a run that cannot be read, reads the other runs, and exits 3', async () => {
  const store = createDirectoryStore(join(folder, 'broken'));
  await publishTwoRuns(store);
  const manifest = `calculations/dt=2026-11-16/run=${monday.id}/_manifest.json`;
  await store.put(manifest, Buffer.from('{'));

  const { code, out, err } = await query(['SELECT name FROM all_calculations'], {
    environment: { SYNC_STORE: join(folder, 'broken') },
  });

  expect({ code, out }).toEqual({ code: 3, out: 'name\nCost' });
  expect(err).toBe(
    `not in the result: ${manifest} is not what platform-sync writes there (1 bytes that are not JSON)`,
  );
});

test('query ends without an error if its reader stops reading', async () => {
  const { code, out } = await query(['SELECT i FROM range(100000) r(i)', '--csv'], {
    drained: async () => false,
  });

  expect(code).toBe(0);
  expect(out.split('\n').length).toBeLessThan(5_000);
});
