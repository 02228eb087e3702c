import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { storeFormula } from '../../lib/model/formulas/formula-log.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();
let sandbox: Sandbox;
let id: string;

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 3, datasets: 1, cards: 0, fileSets: 0, dataFiles: 0 });
  // JSON.parse is not used, since ids may be beyond 2^53.
  id = /"id":(\d+)/.exec(sandbox.calculations().next().value ?? '')?.[1] ?? '';
});

afterEach(() => sandbox.close());

async function run(argv: readonly string[], { input = '', store = folder.path } = {}) {
  return runCommand(argv, settingsOf(sandbox, store), input);
}

/** Sets a formula; `--force` is needed, since the formula before the first update is unknown. */
const set = (input: string) => run(['formula', 'set', id, '-', '--force'], { input });

/** The note about the formula before our first update. */
const NO_HISTORY = /cannot be recovered: the platform has no history$/;

test('a second formula set prints the command that restores the first formula, and that command works', async () => {
  const first = await set('MAX(`Amount`)');
  const { err } = await set('SUM(`Amount`)');

  const [, time = ''] =
    /^to return to the formula that platform-sync set at (\S+): platform-sync formula log (\S+) --at \1 \| platform-sync formula set \2 -$/m.exec(
      err,
    ) ?? [];
  const { out: before } = await run(['formula', 'log', id, '--at', time]);
  await set(`${before}\n`);

  const log = JSON.parse((await run(['formula', 'log', id, '--json'])).out);
  const updated = (expression: string) => ({
    time: expect.stringMatching(/^\d{8}T\d{9}Z$/),
    calculation: { id, expression },
  });
  expect(log).toMatchObject(['MAX(`Amount`)', 'SUM(`Amount`)', 'MAX(`Amount`)'].map(updated));
  expect(first.err).not.toContain('to go back');
});

test('formula set --dry-run shows the formula that platform-sync set last, and the new one, and changes nothing', async () => {
  await set('MAX(`Amount`)');

  const people = await run(['formula', 'set', id, '-', '--dry-run'], { input: 'SUM(`Amount`)' });
  const same = await run(['formula', 'set', id, '-', '--dry-run'], { input: 'MAX(`Amount`)' });
  const machines = await run(['formula', 'set', id, '-', '--dry-run', '--json'], { input: 'SUM(`Amount`)' });

  expect(people.code).toBe(0);
  expect(people.out).toMatch(
    /^calculation \d+ “.+”: invalid, changed at \d+\nformula that platform-sync set at \d{8}T\d{9}Z:\n {2}MAX\(`Amount`\)\nwould be set to \(valid here, checksum [0-9a-f]{40}\):\n {2}SUM\(`Amount`\)\nnothing was sent$/,
  );
  expect(same.out).toContain('would be set to the same formula again');
  expect(JSON.parse(machines.out)).toMatchObject({
    dryRun: true,
    id,
    calculation: { id },
    lastSet: { calculation: { expression: 'MAX(`Amount`)' } },
  });
  expect(sandbox.counts().formulaUpdates).toEqual({ [id]: 1 });
});

test('formula log lists the updates, newest last, and says that the formula before the first update cannot be recovered', async () => {
  await set('MAX(`Amount`)');
  await set('SUM(`Amount`)\n  / 2');

  const { code, out, err } = await run(['formula', 'log', id]);

  const [header, first, second, ...more] = out.split('\n');
  expect(code).toBe(0);
  expect(header).toMatch(/^TIME +CHECKSUM +STATUS +EXPRESSION$/);
  expect(first).toMatch(/^\d{8}T\d{9}Z +[0-9a-f]{40} +invalid +MAX\(`Amount`\)$/);
  expect(second).toMatch(/^\d{8}T\d{9}Z +[0-9a-f]{40} +invalid +SUM\(`Amount`\) …$/);
  expect(more).toEqual([]);
  expect(err).toMatch(NO_HISTORY);
});

test('formula log says if nothing is stored, and that the previous formula cannot be recovered', async () => {
  const people = await run(['formula', 'log', id]);
  const machines = await run(['formula', 'log', id, '--json']);

  expect(people).toMatchObject({
    code: 0,
    out: `no update of calculation ${id} is stored in ${folder.path}`,
  });
  expect(people.err).toMatch(NO_HISTORY);
  expect(machines.out).toBe('[]');
});

test('formula log --at prints only that expression, exactly as formula set takes it', async () => {
  const expression = "CASE WHEN `A` = 'a\tb' THEN 1\n  ELSE 2 END\n";
  await set(`${expression}\n`);
  await set('MAX(`Amount`)');
  const [{ time }] = JSON.parse((await run(['formula', 'log', id, '--json'])).out);

  const { out, err } = await run(['formula', 'log', id, '--at', time]);
  await writeFile(join(folder.path, 'f.txt'), `${out}\n`);
  await run(['formula', 'set', id, join(folder.path, 'f.txt')]);

  const log = JSON.parse((await run(['formula', 'log', id, '--json'])).out);
  expect({ out, err }).toEqual({ out: expression, err: '' });
  expect(log.at(-1).calculation.expression).toBe(expression);
});

test('formula log --at with an unknown time lists the known times, and exits 2', async () => {
  await set('MAX(`Amount`)');

  const { code, err } = await run(['formula', 'log', id, '--at', 'yesterday']);

  expect(code).toBe(2);
  expect(err).toMatch(
    /--at: expected the time of an update of calculation \d+ \(\d{8}T\d{9}Z\), got "yesterday"/,
  );
});

test('formula log removes control characters that could move the cursor', async () => {
  const response = '{"expression":"MAX(`\\u001b[2J`)","status":"\\u202eVALID"}';
  const entry = { calculationId: id, finishedAtMs: 0, response };
  await storeFormula(createDirectoryStore(folder.path), entry);

  const { out } = await run(['formula', 'log', id]);

  expect(out.split('\n')[1]).toBe('19700101T000000000Z  -          valid  MAX(``)');
});

test('formula set warns if the formula was set but could not be stored', async () => {
  await writeFile(join(folder.path, 'formulas'), '');

  const { code, out, err } = await run(['formula', 'set', id, '-', '--force'], { input: 'MAX(`Amount`)' });

  expect(code).toBe(1);
  expect(out).toContain(`calculation ${id}`);
  expect(err).toContain('the formula is set, but it could not be stored for formula log: use formulas/');
});

test('formula set sends nothing if the store cannot be opened', async () => {
  const file = join(folder.path, 'file');
  await writeFile(file, '');
  const before = sandbox.counts().requests;

  const { code, err } = await run(['formula', 'set', id, '-'], { input: 'MAX(`Amount`)', store: file });

  expect(code).toBe(2);
  expect(err).toContain('expected a directory');
  expect(sandbox.counts().requests).toBe(before);
});
