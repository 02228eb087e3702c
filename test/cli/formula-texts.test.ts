import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
let sandbox: Sandbox;
let ids: readonly string[];

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 12, datasets: 2, cards: 10, fileSets: 0, dataFiles: 0 });
  ids = Array.from(sandbox.calculations(), (text) => /"id":(\d+)/.exec(text)?.[1] ?? '');
  await run('snapshot', 'calculations');
});

afterEach(() => sandbox.close());

const run = (...argv: readonly string[]) => runCommand(argv, settingsOf(sandbox, folder.path));
const at = (name: string) => join(folder.path, name);

/** Imports these formulas for the first calculations, in order, all on one dataset. */
async function imported(texts: readonly string[], datasetId = 'd-1') {
  const rows = texts.map((expression, n) =>
    JSON.stringify({ id: ids[n], name: `F${n}`, expression, datasetId }),
  );
  await writeFile(at('list.ndjson'), rows.join('\n'));
  await run('formula', 'import', at('list.ndjson'));
}

const nameOf = (n: number) => /"name":"((?:[^"\\]|\\.)*)"/.exec([...sandbox.calculations()][n] ?? '')?.[1];

describe('formula export', () => {
  test('writes one file for each formula, with its name and id, and the same files for the same formulas', async () => {
    await imported(['SUM(`a`)', '`b`\n+ 1']);

    const first = await run('formula', 'export', at('out'), '--json');
    const { mtimeMs } = await stat(at(`out/${ids[0]}.sql`));
    const again = await run('formula', 'export', at('out'), '--json');

    expect(JSON.parse(first.out)).toMatchObject({
      formulas: 2,
      written: 2,
      unchanged: 0,
      removed: 0,
      left: [],
    });
    expect(JSON.parse(again.out)).toMatchObject({ formulas: 2, written: 0, unchanged: 2 });
    expect((await stat(at(`out/${ids[0]}.sql`))).mtimeMs).toBe(mtimeMs);
    expect((await readdir(at('out'))).sort()).toEqual([`${ids[0]}.sql`, `${ids[1]}.sql`].sort());
    expect(await readFile(at(`out/${ids[1]}.sql`), 'utf8')).toBe(
      `-- platform-sync formula ${ids[1]}\n-- name: ${nameOf(1)}\n\`b\`\n+ 1\n`,
    );
  });

  test.each(['/proc/x', '/proc/x/y', '/sys/x'])(
    'says immediately that %s cannot be created',
    async (target) => {
      await imported(['SUM(`a`)']);

      const { code, err } = await run('formula', 'export', target);

      expect(code).toBe(2);
      expect(err).toContain(`${target}: expected a folder that can be written, got `);
    },
  );

  test('removes the files of formulas that no longer exist, and no other files', async () => {
    await imported(['SUM(`a`)']);
    await mkdir(at('out'));
    await writeFile(at('out/77.sql'), '-- platform-sync formula 77\nSUM(`gone`)\n');
    await writeFile(at('out/78.sql'), '-- platform-sync formula 77\nSUM(`copied`)\n');
    await writeFile(at('out/79.sql'), 'SELECT 1');
    await writeFile(at('out/80.txt'), '-- platform-sync formula 80\n');

    const { out } = await run('formula', 'export', at('out'), '--json');

    expect(JSON.parse(out)).toMatchObject({ written: 1, removed: 1, left: [] });
    expect((await readdir(at('out'))).sort()).toEqual(['78.sql', '79.sql', '80.txt', `${ids[0]}.sql`].sort());
  });

  test('does not touch a file of another writer, names it, and exits 3', async () => {
    await imported(['SUM(`a`)', '`b`']);
    await mkdir(at('out'));
    await writeFile(at(`out/${ids[0]}.sql`), 'mine');

    const { code, out, err } = await run('formula', 'export', at('out'), '--json');

    expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 3, written: 1, left: [`${ids[0]}.sql`] });
    expect(err).toContain(`${ids[0]}.sql is unchanged, since this command did not write it`);
    expect(await readFile(at(`out/${ids[0]}.sql`), 'utf8')).toBe('mine');
  });

  test('writes the formulas as they were known on a given day', async () => {
    const before = new Date().toISOString();
    await imported(['SUM(`a`)']);

    const past = await run('formula', 'export', at('out'), '--at', before);
    const now = await run('formula', 'export', at('out'));

    expect(past).toMatchObject({
      code: 2,
      err: expect.stringContaining('expected formulas in the store, got none'),
    });
    expect(now.code).toBe(0);
    expect((await run('formula', 'export', at('out'), '--at', '1999-01-01')).code).toBe(2);
  });

  test('removes nothing if no formula is known, and refuses a folder that is a file', async () => {
    await mkdir(at('out'));
    await writeFile(at('out/77.sql'), '-- platform-sync formula 77\n1\n');

    expect((await run('formula', 'export', at('out'))).code).toBe(2);
    expect(await readdir(at('out'))).toEqual(['77.sql']);
    await imported(['`a`']);
    const { code, err } = await run('formula', 'export', at('out/77.sql'));
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/77\.sql: expected a folder that can be written/),
    });
  });
});

describe('formula rename-column', () => {
  const rename = (...argv: readonly string[]) =>
    run('formula', 'rename-column', ...argv, '--output', at('changes.csv'), '--json');
  const rows = async () => {
    const { out } = await run('formula', 'apply', at('changes.csv'), '--name', 'may', '--dry-run', '--json');
    return JSON.parse(out);
  };

  test('writes the file for formula apply: this column is replaced in backticks, and nothing else', async () => {
    await imported([
      "SUM(`Net Sales`) /* `Net Sales` */ + SUM(`net sales`) -- `Net Sales`\n + LENGTH('`Net Sales`') + `Net Sales 2`",
      'SUM(`Cost`)',
    ]);

    const { code, out } = await rename('net sales', 'Net `Revenue`', '--dataset', 'D-1');

    expect({ code, ...JSON.parse(out) }).toMatchObject({
      code: 0,
      changed: [{ id: ids[0] }],
      left: [],
      unknown: { total: 0, ids: [] },
    });
    expect(await readFile(at('changes.csv'), 'utf8')).toContain(
      "SUM(`Net ``Revenue```) /* `Net Sales` */ + SUM(`Net ``Revenue```) -- `Net Sales`\n + LENGTH('`Net Sales`') + `Net Sales 2`",
    );
    expect(await rows()).toMatchObject({
      rows: [
        {
          id: ids[0],
          status: 'valid',
          mayBeUndone: true,
          isSame: false,
          cards: expect.any(Number),
          unchecked: ['column Net `Revenue`'],
        },
      ],
    });
    const back = await rename('`a``b`', 'c');
    expect(back).toMatchObject({
      code: 2,
      err: expect.stringContaining('in backticks; nothing was written'),
    });
    expect((await rename('Cost', 'c', '--dataset', 'd-9')).err).toContain(
      'no known formula has the column Cost of dataset d-9 in backticks',
    );
  });

  test('finds a column with a backtick in its name, and can write such a name', async () => {
    await imported(['SUM(`a``b`)']);

    const { code } = await rename('a`b', '`x``y`', '--dataset', 'd-1');

    expect(code).toBe(0);
    expect(await readFile(at('changes.csv'), 'utf8')).toContain('SUM(`x``y`),SUM(`a``b`)');
  });

  test('lists the formulas that it skips: a taken name, no backticks, a broken or unknown formula', async () => {
    await imported(['`a` + `B`', '`a` + a', 'SUM(`a`', '`a`']);

    const { code, out, err } = await rename('A', 'b');

    expect({ code, ...JSON.parse(out) }).toMatchObject({
      code: 3,
      changed: [{ id: ids[3] }],
      left: [
        { id: ids[0], why: 'it has a column `b` already' },
        { id: ids[1], why: 'it uses A without backticks' },
        { id: ids[2], why: 'its text does not parse' },
      ],
      unknown: { total: 8 },
    });
    expect(err).toContain(
      `calculation ${ids[0]} ${JSON.stringify(nameOf(0))}: not renamed: it has a column \`b\` already`,
    );
    expect(err).toContain(`calculation ${ids[5]}: its text is unknown`);
  });

  test('can change only the case of a name, in one dataset only', async () => {
    await imported(['SUM(`sales`)']);

    expect((await rename('Sales', 'SALES', '--dataset', 'd-1')).code).toBe(0);
    expect(await readFile(at('changes.csv'), 'utf8')).toContain('SUM(`SALES`)');
    expect((await rename('Sales', 'x', '--dataset', 'd-2')).code).toBe(2);
  });

  test.each([
    [['a', 'a'], /expected a column and another name for it, got \["a","a"\]/],
    [['``', 'a'], /expected a column and another name/],
    [['a', ' '], /expected a column and another name/],
  ])('refuses %j', async (names, message) => {
    expect(await rename(...names)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  });

  test('accepts an imported formula as the one to restore, unless platform-sync has set another since', async () => {
    await imported(['SUM(`a`)']);
    await writeFile(at('changes.csv'), `id,expression,was\n${ids[0]},SUM(1),SUM(2)\n`);
    const other = await run('formula', 'apply', at('changes.csv'), '--name', 'x');
    await rename('a', 'b', '--dataset', 'd-1');

    // The sandbox's dataset has no such columns, so both formulas are stored as INVALID.
    await run('formula', 'apply', at('changes.csv'), '--name', 'may');
    await run('formula', 'undo', 'may');

    expect(other).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /`was` differs from the formula that platform-sync imported at \d{8}T\d{9}Z:\n\s+SUM\(`a`\)/,
      ),
    });
    const { out } = await run('formula', 'log', ids[0] ?? '', '--json');
    expect(
      JSON.parse(out).map(
        ({ calculation }: { calculation: { expression: string } }) => calculation.expression,
      ),
    ).toEqual(['SUM(`b`)', 'SUM(`a`)']);
  });
});
