import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { execution } from '../platform/sample-records.ts';
import { json, startServer } from '../platform/scripted-server.ts';
import { runCommand, settingsOf } from './run-command.ts';

const SMALL = { calculations: 200, datasets: 5, cards: 20, fileSets: 0, dataFiles: 0 };
const folder = folderOfEach();
let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await startPlatform(SMALL);
});

afterEach(() => sandbox.close());

async function run(argv: readonly string[], input = '') {
  return runCommand(argv, settingsOf(sandbox, folder.path), input);
}

describe('snapshot calculations', () => {
  test('prints the published manifest, and where it is, as one JSON value with --json', async () => {
    const { code, out } = await run(['snapshot', 'calculations', '--json']);

    const manifest = JSON.parse(out);
    const latest = JSON.parse(await readFile(join(folder.path, 'calculations/latest.json'), 'utf8'));
    const stored = JSON.parse(await readFile(join(folder.path, latest.manifest), 'utf8'));
    expect(code).toBe(0);
    const about = { published: true, outcome: 'published', store: folder.path, manifest: latest.manifest };
    expect(manifest).toEqual({ ...stored, ...about });
    expect(manifest).toMatchObject({
      version: 1,
      records: 200,
      consistency: 'proved',
      publishable: true,
      refused: [],
    });
  });

  test('exits 3 and leaves the previous run published if a gate fails; --force publishes the run', async () => {
    const first = await run(['snapshot', 'calculations']);
    await sandbox.close();
    sandbox = await startPlatform({ ...SMALL, calculations: 40 });

    const refused = await run(['snapshot', 'calculations']);
    const forced = await run(['snapshot', 'calculations', '--force', '--json']);

    expect(first).toMatchObject({ code: 0, out: expect.stringContaining('\nconsistency: proved, ') });
    expect(first.out).toMatch(/^calculations: 200 records in 1 part/);
    expect(refused.code).toBe(3);
    expect(refused.out).toContain('not published; refused as: shrunk');
    expect(forced.code).toBe(0);
    expect(JSON.parse(forced.out)).toMatchObject({ records: 40, refused: ['shrunk'], forced: true });
  });
});

describe('call', () => {
  const [sums = '', trials = ''] = codePackages.map(({ id }) => id);
  const call = (of: string, name: string, input: string, ...flags: readonly string[]) =>
    run(['call', of, '1.0.0', name, '--input', input, ...flags], '{"first": 1, "second": 2}');
  const INPUT = '{"first": 40, "second": 2}';

  test('prints the result and exits 0; its input may come from a file or from standard input', async () => {
    const file = join(folder.path, 'input.json');
    await writeFile(file, `\uFEFF${INPUT}\n`);

    const typed = await call(sums, 'addNumbers', INPUT);
    const fromFile = await call(sums, 'addNumbers', `@${file}`);
    const fromInput = await call(sums, 'addNumbers', '-');

    expect(typed).toMatchObject({ code: 0, out: '42' });
    expect([fromFile.out, fromInput.out]).toEqual(['42', '3']);
  });

  test('prints the whole execution with --json', async () => {
    const { out } = await call(sums, 'addNumbers', INPUT, '--json');

    expect(JSON.parse(out)).toMatchObject({
      ...{ status: 'SUCCESS', result: 42, functionName: 'addNumbers', version: '1.0.0' },
    });
  });

  test('says why and exits 1 if the function fails, although the platform responds with 200', async () => {
    const { code, err } = await call(trials, 'throwsError', '{"message": "no luck"}');

    expect(code).toBe(1);
    expect(err).toContain('the function ended with status FAILED');
    expect(err).toContain('no luck');
  });

  test('says that the outcome is unknown and exits 3 if the function is still running', async () => {
    await using server = await startServer(json(execution({ status: 'RUNNING', result: null })));
    const settings = { ...settingsOf(sandbox, folder.path), PLATFORM_BASE_URL: server.url };

    const { code, err } = await runCommand(['call', sums, '1.0.0', 'addNumbers', '--input', INPUT], settings);

    expect(code).toBe(3);
    expect(err).toContain('the function is still running (execution');
  });

  test.each([[[]], [['--json']]])(
    'escapes what could move the cursor with %j; the JSON value is unchanged',
    async (flags) => {
      const value = {
        hostile: '\u009b2J\u007f\u0080\u202a\u202e\u2066\u2069\u200e\u200f\u061c',
        fine: 'é – ש',
      };

      const { out } = await call(trials, 'echo', JSON.stringify({ value }), ...flags);

      const printed = JSON.parse(out);
      expect(printed.result ?? printed).toEqual(value);
      expect(out).toContain('"\\u009b2J\\u007f\\u0080\\u202a\\u202e\\u2066\\u2069\\u200e\\u200f\\u061c"');
      expect(out).toContain('"é – ש"');
    },
  );
});

describe('formula check', () => {
  test('escapes what could move the cursor with --json', async () => {
    const { out } = await run(['formula', 'check', '-', '--json'], 'SUM(`\u202eAmount`)');

    expect(JSON.parse(out)).toMatchObject({ columns: ['\u202eAmount'] });
    expect(out).toContain('\\u202eAmount');
    expect(out).not.toContain('\u202e');
  });

  test('reports what the platform would say about a formula, without asking the platform', async () => {
    const { code, out } = await run(['formula', 'check', '-'], 'SUM(`Amount`) / 2\n');

    expect(code).toBe(0);
    expect(out).toContain('valid');
    expect(out).toContain('functions: SERVICE_OP_DIVIDE, SUM');
    expect(sandbox.counts().requests).toBe(0);
  });

  test('names the position of a fault and exits 1', async () => {
    const { code, out } = await run(['formula', 'check', '-'], 'SUM(`Amount`');

    expect(code).toBe(1);
    expect(out).toMatch(/^-:1:13: /);
  });
});

describe('formula set', () => {
  const firstRow = () =>
    JSON.parse(sandbox.calculations().next().value ?? '{}') as {
      id: number;
      name: string;
      lastModified: number;
    };
  const set = (formula: string, ...flags: readonly string[]) =>
    run(['formula', 'set', String(firstRow().id), '-', ...flags], formula);

  test('sets the formula and prints the updated calculation', async () => {
    const { code, out, err } = await set('MAX(`Amount`)\n', '--force', '--json');

    // The dataset has no such column, which the platform reports only in the calculation's status.
    expect(code).toBe(1);
    expect(err).toContain(
      `calculation ${firstRow().id}: expected a formula that the platform can parse, got one that it calls INVALID; it is stored`,
    );
    expect(JSON.parse(out)).toMatchObject({
      id: String(firstRow().id),
      expression: 'MAX(`Amount`)',
      functions: ['MAX'],
    });
  });

  test('fails with --dry-run if the calculation does not exist', async () => {
    const { code, err } = await run(['formula', 'set', '999999999999', '-', '--dry-run'], 'MAX(`Amount`)');

    expect(code).toBe(1);
    expect(err).toContain('calculation 999999999999: a search did not find it');
  });

  test.each([[[]], [['--strict']], [['--dry-run']]])(
    'does not send a formula that does not parse, unless it is forced: %j',
    async (flags) => {
      const { code, err } = await set('MAX(', ...flags);

      expect(code).toBe(2);
      expect(err).toMatch(/-:1:\d+: /);
      expect(err).toContain('nothing was sent. To send it anyway: --force');
      expect(sandbox.counts().formulaUpdates).toEqual({});
    },
  );

  test.each([
    ['SQRT(1)', 'warning: The platform may not have a function "SQRT".'],
    ['"x"', 'warning: Text is written in single quotes: the platform may not support double quotes.'],
  ])('sends %s with a warning, and refuses it with --strict', async (formula, warning) => {
    await set('MAX(1)', '--force');
    const loose = await set(formula);
    const strict = await set(formula, '--strict');
    const forced = await set(formula, '--strict', '--force');

    expect(loose.code).toBe(0);
    expect(loose.err).toContain(`-:1:1: ${warning}`);
    expect(strict.code).toBe(2);
    expect(strict.err).toContain(`-:1:1: ${warning}`);
    expect(strict.err).toContain('expected a formula that parses without a warning; nothing was sent');
    expect(forced.code).toBe(0);
    expect(forced.err).toContain(`-:1:1: ${warning}`);
    expect(sandbox.counts().formulaUpdates).toEqual({ [String(firstRow().id)]: 3 });
  });

  test('sends a broken formula with --force, and exits 1 since the platform stored it as INVALID', async () => {
    const { code, err } = await set('MAX(', '--force');

    expect(code).toBe(1);
    expect(err).toMatch(/-:1:\d+: /);
    expect(err).toContain('got one that it calls INVALID; it is stored');
    expect(sandbox.counts().formulaUpdates).toEqual({ [String(firstRow().id)]: 1 });
  });

  test('stops if the calculation has been changed since the given time, and otherwise continues', async () => {
    const { id, name, lastModified } = firstRow();
    const guarded = (sinceMs: number) =>
      set('MAX(`Amount`)', '--force', '--unless-changed-since', String(sinceMs), '--name', name);

    const stopped = await guarded(lastModified - 1);
    const gone = await guarded(lastModified);

    expect(stopped.code).toBe(1);
    expect(stopped.err).toContain(
      `was changed at ${new Date(lastModified).toISOString()}, after unlessChangedSince`,
    );
    expect(gone.code).toBe(1);
    expect(sandbox.counts().formulaUpdates).toEqual({ [String(id)]: 1 });
  });
});
