import { readdir, readFile, writeFile } from 'node:fs/promises';
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

type Row = { readonly id: string; readonly name: string; readonly links: readonly object[] };

const calculations = (): readonly Row[] =>
  [...sandbox.calculations()]
    .map((text) => JSON.parse(text) as Row & { id: number })
    .map((row) => ({ ...row, id: String(row.id) }));

async function csv(...rows: readonly (readonly string[])[]): Promise<string> {
  const file = join(folder.path, 'changes.csv');
  await writeFile(file, rows.map((row) => `${row.map((cell) => `"${cell}"`).join()}\n`).join(''));
  return file;
}

/** Writes a CSV that changes the first two formulas from `SUM(1)` to `1` and `2`; returns it with their ids. */
async function firstTwo(): Promise<{ readonly file: string; readonly ids: readonly string[] }> {
  const [a, b] = calculations();
  if (a === undefined || b === undefined) throw new Error('expected two calculations');
  const file = await csv(
    ['id', 'name', 'expression', 'was'],
    [a.id, 'Revenue', '1', 'SUM(1)'],
    [b.id, 'Cost', '2', 'SUM(1)'],
  );
  return { file, ids: [a.id, b.id] };
}

describe('formula apply', () => {
  test('sets every formula as a job NAME.ID, and sends nothing when it is repeated', async () => {
    const { file, ids } = await firstTwo();

    const first = await run('formula', 'apply', file, '--name', 'may', '--json');
    const again = await run('formula', 'apply', file, '--name', 'may', '--json');

    expect({ code: first.code, out: JSON.parse(first.out) }).toEqual({
      code: 0,
      out: {
        set: 'may',
        blank: 0,
        short: 0,
        rows: 2,
        done: 2,
        doneNow: 2,
        hadEndedBefore: 0,
        failed: 0,
        unknown: 0,
        left: 0,
        notDone: [],
      },
    });
    expect(first.err).toContain('to undo the changes: platform-sync formula undo may');
    expect(JSON.parse(again.out)).toMatchObject({ rows: 2, done: 2, doneNow: 0, hadEndedBefore: 2 });
    expect(sandbox.counts().formulaUpdates).toEqual({ [ids[0] ?? '']: 1, [ids[1] ?? '']: 1 });
    expect(await readdir(join(folder.path, 'results/update-formula'), { recursive: true })).toContainEqual(
      expect.stringContaining(`may.${ids[0]}.json`),
    );
  });

  test('refuses rows that could not be undone and names them, unless --no-undo-for has their ids', async () => {
    const [a, b] = calculations();
    const file = await csv(
      ['id', 'name', 'expression'],
      [a?.id ?? '', 'Revenue', '1'],
      [b?.id ?? '', 'Cost', '2'],
    );

    const refused = await run('formula', 'apply', file, '--name', 'may');
    const named = await run(
      'formula',
      'apply',
      file,
      '--name',
      'may',
      '--no-undo-for',
      a?.id ?? '',
      b?.id ?? '',
    );

    expect(refused.code).toBe(2);
    expect(refused.err).toContain(`calculation ${a?.id} "Revenue"\n`);
    expect(refused.err).toContain(`--no-undo-for ${a?.id} ${b?.id}`);
    expect(named.code).toBe(0);
  });

  test('knows the formula that an earlier formula apply set', async () => {
    const { file, ids } = await firstTwo();
    await run('formula', 'apply', file, '--name', 'may');
    const later = await csv(['id', 'expression'], [ids[0] ?? '', '3']);

    const june = await run('formula', 'apply', later, '--name', 'june');

    expect(june.code).toBe(0);
    const set = JSON.parse(await readFile(join(folder.path, 'formulas/sets/june/_set.json'), 'utf8'));
    expect(set.rows).toEqual([{ id: ids[0], name: null, expression: '3', was: '1' }]);
  });

  test('names every fault of a file, and sends nothing', async () => {
    const [a] = calculations();
    const id = a?.id ?? '';
    const file = await csv(['id', 'expression', 'was'], ['x', '1', '1'], [id, 'SUM(', '1'], [id, '2', '1']);

    const { code, err } = await run('formula', 'apply', file, '--name', 'may');

    expect(code).toBe(2);
    expect(err).toContain('line 2: id: expected the digits of an integer, got "x"');
    expect(err).toMatch(/line 3: expression:1:\d+: /);
    expect(err).toContain(`line 4: id: calculation ${id} is in an earlier row already`);
    expect(sandbox.counts().formulaUpdates).toEqual({});
  });

  test('sets a formula that the platform may refuse, with a warning; refuses it with --strict', async () => {
    const [a] = calculations();
    const id = a?.id ?? '';
    const file = await csv(['id', 'expression', 'was'], [id, 'SQRT(4)', '1']);
    const warning = 'line 2: expression:1:1: warning: The platform may not have a function "SQRT".';

    const strict = await run('formula', 'apply', file, '--name', 'may', '--strict');
    const dry = await run('formula', 'apply', file, '--name', 'may', '--dry-run', '--json');
    const loose = await run('formula', 'apply', file, '--name', 'may');

    expect({ code: strict.code, err: strict.err }).toEqual({
      code: 2,
      err: expect.stringContaining(warning),
    });
    expect(JSON.parse(dry.out).rows[0].warnings).toEqual([
      'expression:1:1: warning: The platform may not have a function "SQRT".',
    ]);
    expect(dry.err).toContain(`${file}: the platform may refuse:\n  ${warning}`);
    expect(loose.code).toBe(0);
    expect(loose.err.split(warning)).toHaveLength(2);
    expect(sandbox.counts().formulaUpdates).toEqual({ [id]: 1 });
  });

  test('with --strict, still sends a formula with an error that only the platform can find, and reports that it was refused', async () => {
    const [a] = calculations();
    const file = await csv(['id', 'expression', 'was'], [a?.id ?? '', 'SUM(`No such column`)', '1']);

    const strict = await run('formula', 'apply', file, '--name', 'may', '--strict', '--json');

    expect(strict.code).toBe(3);
    expect(JSON.parse(strict.out)).toMatchObject({
      failed: 1,
      notDone: [{ reason: expect.stringContaining('400') }],
    });
    expect(sandbox.counts().formulaUpdates).toEqual({});
  });

  test('refuses a name that another set has', async () => {
    const { file, ids } = await firstTwo();
    await run('formula', 'apply', file, '--name', 'may');
    const other = await csv(['id', 'expression', 'was'], [ids[0] ?? '', '7', '1']);

    const { code, err } = await run('formula', 'apply', other, '--name', 'may');

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('was used for other changes before'),
    });
  });

  test('shows in a dry run what depends on the formulas, also as a Markdown table, and exits 3 above --max-affected', async () => {
    await run('snapshot', 'calculations');
    await run('snapshot', 'cards');
    const rows = await run(
      'query',
      '--json',
      "SELECT used_id AS id, count(*) AS users FROM uses WHERE used_kind = 'calculation' GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
    );
    const [{ id }] = JSON.parse(rows.out);
    const file = await csv(['id', 'name', 'expression', 'was'], [id, 'A|B @you', '1', '2']);

    const text = await run('formula', 'apply', file, '--name', 'may', '--dry-run');
    const table = await run('formula', 'apply', file, '--name', 'may', '--dry-run', '--markdown');
    const json = await run('formula', 'apply', file, '--name', 'may', '--dry-run', '--json');
    const tooMuch = await run('formula', 'apply', file, '--name', 'may', '--max-affected', '0');

    expect(text.code).toBe(0);
    expect(text.out).toMatch(/^may: 1 formula would be set; nothing was sent\. \d+ other thing/);
    expect(table.out).toContain('| A\\|B \\@you | valid, LONG | ');
    const [row] = JSON.parse(json.out).rows;
    expect(row.cards + row.calculations).toBeGreaterThan(0);
    expect(JSON.parse(json.out).affected).toBe(row.cards + row.calculations);
    expect(tooMuch).toMatchObject({
      code: 3,
      err: expect.stringContaining('--max-affected: expected at most 0'),
    });
    expect(sandbox.counts().formulaUpdates).toEqual({});
  });

  test('sends nothing with --max-affected if it is unknown what depends on the formulas', async () => {
    const { file } = await firstTwo();

    const { code, err } = await run('formula', 'apply', file, '--name', 'may', '--max-affected', '100');

    expect({ code, err }).toEqual({ code: 3, err: expect.stringContaining('no calculations are published') });
  });

  test('puts the jobs on the queue with --submit, and a worker runs them once', async () => {
    const { file, ids } = await firstTwo();

    const sent = await run('formula', 'apply', file, '--name', 'may', '--submit');
    await run('work', '--drain');

    expect(sent).toMatchObject({ code: 0, out: expect.stringMatching(/^2 jobs sent\n\s+may\./) });
    expect(sandbox.counts().formulaUpdates).toEqual({ [ids[0] ?? '']: 1, [ids[1] ?? '']: 1 });
  });
});

describe('formula apply, before it sends', () => {
  test('refuses an id that the last snapshot does not have, and a name that belongs to another calculation', async () => {
    await run('snapshot', 'calculations', '--no-tables');
    const [a, b] = calculations();
    const rows = [a?.id ?? '', b?.name ?? '', '1', '1'] as const;
    const file = await csv(['id', 'name', 'expression', 'was'], rows, ['999999', '', '1', '1']);

    for (const flags of [['--dry-run'], []]) {
      const { code, err } = await run('formula', 'apply', file, '--name', 'may', ...flags);

      expect(code).toBe(2);
      expect(err).toContain(`; ${JSON.stringify(b?.name)} is calculation ${b?.id}`);
      expect(err).toContain('calculation 999999 is not in the last snapshot');
    }
    expect(sandbox.counts().formulaUpdates).toEqual({});
  });

  test('names the checks that a dry run skips', async () => {
    const [a] = calculations();
    const file = await csv(['id', 'expression', 'was'], [a?.id ?? '', 'SUM(`A`) + SUM(`B`)', 'MAX(`A`)']);

    const text = await run('formula', 'apply', file, '--name', 'may', '--dry-run');
    const json = await run('formula', 'apply', file, '--name', 'may', '--dry-run', '--json');

    expect(text.out).toContain(`calculation ${a?.id}: not checked: id, name, column B`);
    expect(JSON.parse(json.out).rows[0].unchecked).toEqual(['id', 'name', 'column B']);
  });

  test('stops after ten formulas in a row that the platform stored as INVALID', async () => {
    const rows = calculations().map(({ id }) => [id, 'MAX(`No such column`)', '1']);
    const file = await csv(['id', 'expression', 'was'], ...rows);

    const { code, out, err } = await run('formula', 'apply', file, '--name', 'may', '--json');

    expect(code).toBe(3);
    expect(err).toContain('the platform stored 10 formulas in a row as INVALID');
    // All but those ten and the ones that were in flight by then.
    expect(JSON.parse(out).left).toBeGreaterThan(20);
  });
});

describe('formula undo', () => {
  test('restores formulas that have not changed since, and only once', async () => {
    const { file, ids } = await firstTwo();
    await run('formula', 'apply', file, '--name', 'may');

    const undone = await run('formula', 'undo', 'may');
    const again = await run('formula', 'undo', 'may');

    expect(undone).toMatchObject({
      code: 0,
      out: 'may: 2 formulas: 2 done now, 0 failed, 0 unknown, 0 left; 0 had ended before',
    });
    const log = await run('formula', 'log', ids[0] ?? '', '--json');
    expect(
      JSON.parse(log.out).map(
        ({ calculation }: { calculation: Row & { expression: string } }) => calculation.expression,
      ),
    ).toEqual(['1', 'SUM(1)']);
    expect(again).toMatchObject({ code: 3, err: expect.stringContaining('is already undone') });
  });

  test('keeps its set from being applied again under the same name, since the jobs of the set are done', async () => {
    const { file } = await firstTwo();
    await run('formula', 'apply', file, '--name', 'may');
    await run('formula', 'undo', 'may');

    const again = await run('formula', 'apply', file, '--name', 'may');
    const other = await run('formula', 'apply', file, '--name', 'may-again');

    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('Use another name') });
    expect(other.code).toBe(0);
  });

  test('leaves a formula that a person has changed since, and lists it, unless its id is given', async () => {
    const { file, ids } = await firstTwo();
    await run('formula', 'apply', file, '--name', 'may');
    sandbox.state.calculations.change(ids[0] ?? '', { archived: true });

    const undone = await run('formula', 'undo', 'may');
    const anyway = await run('formula', 'undo', 'may', '--even-if-changed', ids[0] ?? '');

    expect(undone.code).toBe(3);
    expect(undone.out).toMatch(
      new RegExp(
        `failed: may\\.undo\\.${ids[0]}\\.\\w+: calculation ${ids[0]} was changed at \\S+, after unlessChangedSince`,
      ),
    );
    expect(anyway.out).toContain('1 done');
    expect(sandbox.counts().formulaUpdates).toEqual({ [ids[0] ?? '']: 2, [ids[1] ?? '']: 2 });
  });

  test('names the formulas that cannot be restored', async () => {
    const [a] = calculations();
    const file = await csv(['id', 'expression'], [a?.id ?? '', '1']);
    await run('formula', 'apply', file, '--name', 'may', '--no-undo-for', a?.id ?? '');

    const { code, err } = await run('formula', 'undo', 'may');

    expect({ code, err }).toEqual({
      code: 3,
      err: expect.stringContaining('its earlier formula is unknown'),
    });
  });

  test('exits 2 for a set that was never applied', async () => {
    await firstTwo();

    const { code, err } = await run('formula', 'undo', 'june');

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('expected the name of a set that was applied'),
    });
  });
});
