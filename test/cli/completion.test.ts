import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfAll } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfAll();

async function scriptFor(shell: string): Promise<string> {
  const { code, out } = await runCommand(['completion', shell]);
  expect(code).toBe(0);
  const file = join(folder, `script.${shell}`);
  writeFileSync(file, out);
  return file;
}

/** For each shell, a script that prints the completions of the words typed so far; the last word is incomplete. */
const scripts = {
  bash: (file: string, words: readonly string[]) =>
    `. ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _platform_sync; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (file: string, words: readonly string[]) =>
    `autoload -U compinit && compinit -uD; . ${file}; setopt ksharrays shwordsplit; COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _platform_sync; print -l -- "\${COMPREPLY[@]}"`,
  fish: (file: string, words: readonly string[]) => `source ${file}; complete -C '${words.join(' ')}'`,
} as const;

const CASES: readonly (readonly [
  words: readonly string[],
  found: readonly string[],
  none: readonly string[],
])[] = [
  [['platform-sync', ''], ['snapshot', 'doctor', 'completion'], ['calculations']],
  [['platform-sync', 'snapshot', ''], ['calculations', 'data-files'], ['doctor']],
  [['platform-sync', 'runs', ''], ['calculations'], ['snapshot']],
  [['platform-sync', 'jobs', 'cancel', '--'], ['--batch'], ['--drain']],
  [['platform-sync', 'completion', ''], ['bash', 'zsh', 'fish'], ['runs']],
];

/** bash is on every machine that runs these tests; zsh and fish may be missing. */
const installed = (['bash', 'zsh', 'fish'] as const).filter(
  (shell) => shell === 'bash' || spawnSync(shell, ['--version']).status === 0,
);

test.each(installed)(
  'completion for %s offers the commands, and the sources and options of the current command',
  async (shell) => {
    const file = await scriptFor(shell);

    for (const [words, found, none] of CASES) {
      const { stdout, stderr } = spawnSync(shell, ['-c', scripts[shell](file, words)], {
        encoding: 'utf8',
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder },
      });
      const offered = stdout.split('\n').map((line) => line.split(/[\t:]/)[0]);
      expect(stderr).toBe('');
      expect(offered).toEqual(expect.arrayContaining([...found]));
      for (const word of none) expect(offered).not.toContain(word);
    }
  },
);
