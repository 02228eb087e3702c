import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { settingNames } from '../../lib/settings.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { argumentsOf, parseLine, type Stage } from './shell.ts';

/** Where lines run: their environment variables, and the folder of their files. */
export type Place = { readonly environment: Readonly<Record<string, string>>; readonly folder: string };

/** The command that loads settings into the shell, which is skipped: the test sets the environment itself. */
const SETS = /^set -a; \. \.\/[\w.-]+; set \+a$/;

/** Runs a line of a page, and checks that its exit code is that on the page, or `ending`. Returns its output. */
export async function runLine(line: string, place: Place, ending?: number): Promise<string> {
  if (SETS.test(line)) return '';
  const { stages, code: promised } = parseLine(line);
  const code = ending ?? promised;
  if (stages[0]?.words[0] === 'export') {
    checkExport(stages[0]);
    return '';
  }
  let input = '';
  let ended = 0;
  for (const stage of stages) {
    const { code: of, out, err } = await runStage(stage, input, place);
    input = out;
    ended = of;
    if (of !== code) expect.fail(`${line}: expected exit code ${code}, got ${of}\n${err}\n${out}`);
    if (stage.to !== undefined) writeFileSync(join(place.folder, stage.to), out);
  }
  expect(ended).toBe(code);
  return input;
}

type Ended = { readonly code: number; readonly out: string; readonly err: string };

async function runStage(stage: Stage, input: string, { environment, folder }: Place): Promise<Ended> {
  const [program, ...words] = stage.words;
  const ended = { code: 0, err: '' };
  if (program === 'echo') return { ...ended, out: `${words.join(' ')}\n` };
  if (program === 'cat')
    return { ...ended, out: words.map((file) => readFileSync(join(folder, file), 'utf8')).join('') };
  const argv = argumentsOf(stage);
  if (argv === undefined)
    throw new Error(`expected platform-sync, echo or cat, got ${stage.words.join(' ')}`);
  const { terminal, out, err } = createFakeTerminal(environment, input);
  const code = await runCommandLine(
    argv.map((word) => inFolder(word, folder)),
    terminal,
  );
  return { code, out: out(), err: err() };
}

/** Places files without a folder, and the folder of rules, in the test's folder instead of the reader's. */
const inFolder = (word: string, folder: string) =>
  /^[\w-]+\.(csv|ndjson|json|parquet|html|txt|env|xml)$|^rules$/.test(word) ? join(folder, word) : word;

function checkExport({ words }: Stage): void {
  const names = words.slice(1).map((word) => /^([A-Z_]+)=/.exec(word)?.[1] ?? word);
  const known = (name: string) => name.startsWith('AWS_') || settingNames.some((each) => each === name);
  expect(names.filter((name) => !known(name))).toEqual([]);
}
