import { expect, test } from 'vitest';
import { settingNames } from '../../lib/base/setting-names.ts';
import { createProgram } from '../../lib/cli/command-line.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { withAllBelow } from '../cli/parse-only.ts';
import { textOf } from './blocks.ts';

/** The first cell of each row of a page's tables. */
const firstCells = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/^\| (.*?[^\\]) \|/gm)].map(([, cell = '']) => cell);

test('docs/settings.md lists every setting, once', () => {
  const names = firstCells('docs/settings.md').flatMap((cell) => cell.match(/[A-Z]+(?:_[A-Z]+)+/g) ?? []);

  expect(names.toSorted()).toEqual(settingNames.toSorted());
});

test('docs/commands.md lists every command', () => {
  const cells = firstCells('docs/commands.md').join('\n');
  const program = createProgram(createFakeTerminal().terminal, () => undefined);
  const paths = program.commands
    .flatMap(withAllBelow)
    .filter(({ commands }) => commands.length === 0)
    .map((command) =>
      [command.parent?.name(), command.name()].filter((name) => name !== 'platform-sync').join(' '),
    );

  expect(paths.length).toBeGreaterThan(15);
  expect(paths.filter((path) => !cells.includes(`\`${path}`))).toEqual([]);
});
