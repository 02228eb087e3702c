import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { families } from '../../lib/cli/command-line.ts';
import { parseLine } from '../docs/shell.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';
import { wrongFamilies } from './wrong-families.ts';
import { wrongInputs } from './wrong-inputs.ts';
import { type Given, wrongWords } from './wrong-uses.ts';

const folder = folderOfEach();

const inFolder = (word: string) =>
  word.replace(/^@?(?=[\w-]+\.(?:csv|ndjson|json|env|txt)(?:$|\/))/, (at) => `${at}${folder.path}/`);

const asFile = (content: NonNullable<Given['files']>[string]) =>
  typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content);

/** What users must not see: bare error codes, names of error classes, and stacks. */
const BARE = /\b(?:ENOENT|EISDIR|ENOTDIR|EACCES|TypeError|SyntaxError|undefined|ZodError)\b|^ {4}at /m;

const wrongUses = [...wrongWords, ...wrongFamilies, ...wrongInputs];

test.for(wrongUses)('%s is refused: %s', async ([line, message, given = {}]) => {
  const { input, files = {}, settings = {}, code: expected = 2 } = given;
  for (const [name, content] of Object.entries(files))
    if (content === null) await mkdir(join(folder.path, name));
    else await writeFile(join(folder.path, name), asFile(content));
  const [argv = []] = parseLine(line).stages.map(({ words }) => words.map(inFolder));
  const environment = {
    // No server listens here, so a command that sends would fail differently.
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'a-token-that-nobody-sees',
    SYNC_STORE: folder.path,
    XDG_CONFIG_HOME: folder.path,
    ...Object.fromEntries(
      Object.entries(settings).map(([name, value]) => [name, value.replace('FOLDER', folder.path)]),
    ),
  };

  const { code, out, err } = await runCommand(argv, environment, input);

  expect(`${err}\n${out}`).toContain(message);
  expect(`${err}\n${out}`).not.toMatch(/stopped; to resume|nobody-sees/);
  expect(err).not.toMatch(BARE);
  expect(code).toBe(expected);
  // For `doctor`, `init` and `formula check`, what is wrong is the result, on standard output.
  if (!out.includes(message))
    expect(out).toEqual(argv.includes('--json') ? expect.stringContaining('"kind": "usage"') : '');
});

test('the tables of wrong uses have every command, and more than 325 uses', () => {
  expect(new Set(wrongUses.map((use) => use.slice(0, 2).join('\n'))).size).toBeGreaterThan(325);
  const isThere = (path: string) => wrongUses.some(([line]) => `${line} `.startsWith(`${path} `));

  const paths = Object.values(families).flatMap((family) => Object.keys(family));

  expect(paths.filter((path) => !isThere(path))).toEqual([]);
});
