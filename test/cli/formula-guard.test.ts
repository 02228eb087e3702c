import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSubmission } from '../../lib/cli/commands/mcp.ts';
import { withDefaultLocations } from '../../lib/locations.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
let sandbox: Sandbox;
let id: string;

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 60, datasets: 2, cards: 0, fileSets: 0, dataFiles: 0 });
  id = /"id":(\d+)/.exec(sandbox.calculations().next().value ?? '')?.[1] ?? '';
});

afterEach(() => sandbox.close());

const run = (argv: readonly string[], input = '') =>
  runCommand(argv, settingsOf(sandbox, folder.path), input);

async function fileOf(name: string, text: string): Promise<string> {
  const file = join(folder.path, name);
  await writeFile(file, text);
  return file;
}

const job = () =>
  JSON.stringify({ version: 1, type: 'update-formula', id: 'f', calculationId: id, expression: '2' });

const jobs = () => fileOf('jobs.ndjson', job());

const rows = async () => [
  ...['--from-csv', await fileOf('rows.csv', `id\n${id}\n`)],
  '--template',
  await fileOf('t.json', '{"type":"update-formula","calculationId":"{{id}}","expression":"2"}'),
];

const writers: Readonly<
  Record<string, () => Promise<{ readonly argv: readonly string[]; readonly word: string }>>
> = {
  'formula set': async () => ({
    argv: ['formula', 'set', id, await fileOf('formula', '2')],
    word: '--force',
  }),
  run: async () => ({ argv: ['run', await jobs()], word: '--no-undo' }),
  'run --from-csv': async () => ({ argv: ['run', ...(await rows())], word: '--no-undo' }),
  submit: async () => ({ argv: ['submit', await jobs()], word: '--no-undo' }),
  'submit --from-csv': async () => ({ argv: ['submit', ...(await rows())], word: '--no-undo' }),
};

describe.each(Object.entries(writers))('%s', (name, prepare) => {
  test('refuses to replace a formula whose text is not stored, unless an option allows it', async () => {
    const { argv, word } = await prepare();

    const dry = await run([...argv, '--dry-run']);
    const refused = await run(argv);
    const updates = sandbox.counts().formulaUpdates;
    const anyway = await run([...argv, word]);
    if (name.startsWith('submit')) await run(['work', '--drain']);

    expect(dry.code).toBe(name === 'formula set' ? 3 : 2);
    expect(refused.code).toBe(2);
    for (const { err } of [dry, refused]) {
      expect(err).toContain('the current text of these formulas is unknown');
      expect(err).toContain(`calculation ${id}`);
      expect(err).toContain(`To set ${name === 'formula set' ? 'it' : 'them'} anyway: ${word}`);
    }
    expect(updates).toEqual({});
    expect(anyway.code).toBe(0);
    expect(sandbox.counts().formulaUpdates).toEqual({ [id]: 1 });
  });

  test('replaces a formula that platform-sync set', async () => {
    await run(['formula', 'set', id, '-', '--force'], '1');
    const { argv } = await prepare();

    const set = await run(argv);
    if (name.startsWith('submit')) await run(['work', '--drain']);

    expect(set.code).toBe(0);
    expect(sandbox.counts().formulaUpdates).toEqual({ [id]: 2 });
  });
});

test('submit by an assistant also refuses an update that cannot be undone, and prints the command for the user to run', async () => {
  const settings = withDefaultLocations(settingsOf(sandbox, folder.path));
  const submission = createSubmission(createFakeTerminal(settings).terminal);

  const lost = await submission.check(job());
  await run(['formula', 'set', id, '-', '--force'], '1');
  const known = await submission.check(job());

  expect(lost).toEqual({
    faults: [expect.stringMatching(new RegExp(`calculation ${id}\\n[^]* submit FILE --no-undo$`))],
  });
  expect(known).toEqual([{ id: 'f', text: job() }]);
});

test('submit --dry-run needs no store if no job sets a formula, since there is nothing to undo', async () => {
  const score = { version: 1, type: 'score', id: 'a', texts: [{ id: '1', text: 'fine' }] };
  const store = await fileOf('no-folder', '');

  const dry = await runCommand(['submit', '-', '--dry-run'], { SYNC_STORE: store }, JSON.stringify(score));

  expect(dry.code).toBe(0);
});

describe('formula apply', () => {
  const apply = async (was: string, ...flags: readonly string[]) => {
    const file = await fileOf('changes.csv', `id,expression,was\n${id},2,${was}\n`);
    return run(['formula', 'apply', file, '--name', 'may', ...flags]);
  };

  test('refuses a `was` that contradicts the formula log, and prints both formulas', async () => {
    await run(['formula', 'set', id, '-', '--force'], 'SUM(1)');

    const dry = await apply('MAX(1)', '--dry-run');
    const refused = await apply('MAX(1)');
    const updates = sandbox.counts().formulaUpdates;
    const anyway = await apply('MAX(1)', '--no-undo-for', id);
    const undone = await run(['formula', 'undo', 'may']);

    for (const { code, err } of [dry, refused]) {
      expect(code).toBe(2);
      expect(err).toMatch(
        new RegExp(
          `calculation ${id}: \`was\` differs from the formula that platform-sync set at \\d+T\\d+Z:\\s+SUM\\(1\\)\\s+\`was\`:\\s+MAX\\(1\\)\\s+To set`,
        ),
      );
    }
    expect(updates).toEqual({ [id]: 1 });
    expect(anyway.code).toBe(0);
    expect(undone.err).toContain('its earlier formula is unknown');
  });

  test('treats formulas as equal if a spreadsheet changed only white space', async () => {
    await run(['formula', 'set', id, '-', '--force'], 'SUM(1)\n  + 1');

    const { code } = await apply('"SUM(1)\r\n + 1"');

    expect(code).toBe(0);
  });

  test('does not set the formulas of a set again when it is repeated', async () => {
    await apply('SUM(1)');

    const again = await apply('SUM(1)');

    expect(again.code).toBe(0);
    expect(sandbox.counts().formulaUpdates).toEqual({ [id]: 1 });
  });
});
