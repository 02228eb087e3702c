import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { faultsOfLine } from '../cli/parse-only.ts';
import { argumentsOf, linesOf, parseLine } from './shell.ts';

/** A block that cannot run here gives a reason of at least two words: `elsewhere: needs an AWS account`. */
export const REASON = /^elsewhere: \S+ \S+/;

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** Checks a block without running it: its reason, our commands, and the npm scripts that it names. */
export async function checkElsewhere(text: string, words: string): Promise<void> {
  expect(words).toMatch(REASON);
  for (const line of linesOf(text.replaceAll(/ #.*$/gm, ''))) {
    for (const command of commandsIn(line)) expect(await faultsOfLine(command)).toBe('');
    for (const name of scriptsIn(line)) expect(Object.keys(scripts)).toContain(name);
  }
}

/** The arguments of each `npx platform-sync` in a line. */
const commandsIn = (line: string): readonly (readonly string[])[] =>
  [...line.matchAll(/(?:^|&& |\| )(npx platform-sync [^|&]*)/g)].flatMap(([, command = '']) =>
    parseLine(command).stages.flatMap((stage) => {
      const argv = argumentsOf(stage);
      return argv === undefined ? [] : [argv];
    }),
  );

/** The names of npm's scripts in a text. */
const scriptsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\bnpm (?:run )?(?<name>[\w:]+)/g)].flatMap(({ 0: words, groups }) => {
    const name = groups?.['name'] ?? '';
    return words.startsWith('npm run') || name === 'start' || name === 'test' ? [name] : [];
  });
