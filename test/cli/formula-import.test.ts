import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 60, datasets: 2, cards: 10, fileSets: 0, dataFiles: 0 });
});

afterEach(() => sandbox.close());

const run = (...argv: readonly string[]) => runCommand(argv, settingsOf(sandbox, folder.path));

describe('formula import', () => {
  test('stores the formulas of a file, names those that do not parse, and where-used finds their columns', async () => {
    const file = join(folder.path, 'list.csv');
    const [a, b] = Array.from(sandbox.calculations(), (text) => /"id":(\d+)/.exec(text)?.[1] ?? '');
    await run('snapshot', 'calculations');
    await writeFile(
      file,
      `id,name,expression,datasetId\n${a},Sum,SUM(\`Net Sales\`),D-1\n${b},Cut,SUM(\`x\`,d-1\n9,,,\n`,
    );

    const imported = await run('formula', 'import', file, '--json');
    const column = ['--kind', 'column', '--dataset', 'd-1'];
    const used = await run('where-used', 'NET sales', ...column, '--json');

    expect({ code: imported.code, out: JSON.parse(imported.out) }).toEqual({
      code: 0,
      out: {
        key: expect.stringMatching(/^formulas\/imported\/\d{8}T\d{9}Z\.ndjson\.gz$/),
        formulas: 2,
        invalid: 1,
        empty: 1,
        faulty: 0,
      },
    });
    expect(imported.err).toMatch(new RegExp(`calculation ${b} "Cut":1:8: Expected`));
    expect((await run('formula', 'import', file)).out).toContain(
      '2 formulas imported; 1 formula cannot be parsed, so its columns are unknown',
    );
    expect(JSON.parse(used.out)).toMatchObject({
      found: [
        {
          kind: 'column',
          id: 'd-1:net sales',
          links: 1,
          dependents: expect.arrayContaining([
            expect.objectContaining({ kind: 'calculation', id: a, hop: 1 }),
          ]),
        },
      ],
      formulas: { known: 2, of: 60 },
    });
  });

  test('imports the formulas that the function of a job returned, once, or says why it cannot', async () => {
    const [packageId, packageVersion] = ['b0a94e17-52c3-4d8f-a6e1-07d3f9c2b856', '1.0.0'];
    const job = (id: string, functionName: string, inputVariables = {}) =>
      JSON.stringify({
        version: 1,
        type: 'run-function',
        id,
        packageId,
        packageVersion,
        functionName,
        inputVariables,
      });
    const list = JSON.stringify([{ id: 7, expression: '`a`' }]);
    const text = {
      ...JSON.parse(job('text', 'normalizePhone')),
      packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
      functionName: 'dedupeRows',
      inputVariables: { rows: JSON.parse(list), keys: ['id'] },
    };
    const file = join(folder.path, 'jobs.ndjson');
    await writeFile(
      file,
      [JSON.stringify(text), job('throws', 'throwsError'), job('object', 'echo', { value: { a: 1 } })].join(
        '\n',
      ),
    );
    await run('run', file);

    const first = await run('formula', 'import', '--from-job', 'text', '--json');
    const again = await run('formula', 'import', '--from-job', 'text', '--json');
    const [failed, other, none] = [
      await run('formula', 'import', '--from-job', 'throws'),
      await run('formula', 'import', '--from-job', 'object'),
      await run('formula', 'import', '--from-job', 'texts'),
    ];

    expect(JSON.parse(first.out)).toMatchObject({ formulas: 1 });
    expect(JSON.parse(again.out)).toEqual(JSON.parse(first.out));
    expect(failed).toMatchObject({
      code: 2,
      err: expect.stringMatching(/got one that is failed: .*it went wrong on purpose/),
    });
    expect(other).toMatchObject({
      code: 2,
      err: expect.stringMatching(/expected a list of \{id, expression\}, got/),
    });
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /--from-job \S+: expected a run-function job that is done, got an id that is not in the ledger; did you mean text\?/,
      ),
    });
  });

  test('reads standard input, says how many rows were not imported, and then exits 3', async () => {
    const { code, out, err } = await runCommand(
      ['formula', 'import', '-'],
      settingsOf(sandbox, folder.path),
      '{"id":7,"expression":"`a`"}\n{"id":7,"expression":"`b`"}\n{"id":8,"expression":"`c`"}\n',
    );

    expect({ code, out }).toEqual({ code: 3, out: '1 formula imported\n2 rows not imported' });
    expect(err).toContain('line 2: calculation 7 has another formula on line 1');
  });

  test('names both lines of each formula that a list has twice, and exits 3 even if no formula remains', async () => {
    const list = '{"id":7,"expression":"`a`"}\n{"id":7,"expression":"`b`"}\n';

    const { code, out, err } = await runCommand(
      ['formula', 'import', '-', '--json'],
      settingsOf(sandbox, folder.path),
      list,
    );

    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 3,
      out: { key: null, formulas: 0, invalid: 0, empty: 0, faulty: 2 },
    });
    expect(err).toContain('calculation 7 has another formula on line 1; neither is imported');
  });

  test('gives a formula in SQL the name that its calculation has in the snapshot, or, without a snapshot, the name in the list', async () => {
    const [id] = Array.from(sandbox.calculations(), (text) => /"id":(\d+)/.exec(text)?.[1] ?? '');
    const name = /"name":"((?:[^"\\]|\\.)*)"/.exec([...sandbox.calculations()][0] ?? '')?.[1];
    const file = join(folder.path, 'list.csv');
    await writeFile(file, `id,name,expression\n${id},,SUM(\`a\`)\n9,Other,\`b\`\n`);
    await run('formula', 'import', file);
    await run('snapshot', 'calculations', '--as', 'some', '--name', 'zzz');

    const before = await run(
      'query',
      'SELECT name FROM formulas ORDER BY calculation_id::int DESC',
      '--json',
    );
    await run('snapshot', 'calculations');
    const after = await run('query', 'SELECT name FROM formulas', '--json');

    expect(JSON.parse(before.out).rows ?? JSON.parse(before.out)).toEqual([
      { name: null },
      { name: 'Other' },
    ]);
    expect(JSON.parse(after.out).rows ?? JSON.parse(after.out)).toEqual([{ name }]);
  });

  test.each([
    [['list.csv'], 'id,expression\n', /list\.csv: expected formulas to import, got none/],
    [['list.csv'], 'id,formula\n7,1\n', /columns: expected "expression"/],
    [['list.csv', '--from-job', 'x'], '', /expected FILE or --from-job, got FILE and --from-job/],
    [[], '', /expected FILE or --from-job, got none/],
    [['none.csv'], undefined, /none\.csv: expected a readable file, got no such file or directory/],
    [['-'], '', /standard input: line 1: the header: expected column names, got nothing/],
  ])('refuses %j', async (argv, text, message) => {
    if (text !== undefined) await writeFile(join(folder.path, 'list.csv'), text);
    const { code, err } = await run(
      'formula',
      'import',
      ...argv.map((each) => (each.endsWith('csv') ? join(folder.path, each) : each)),
    );

    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });
});
