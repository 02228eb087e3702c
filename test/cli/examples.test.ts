import { describe, expect, test } from 'vitest';
import { pathOf } from '../../lib/cli/command.ts';
import { createProgram } from '../../lib/cli/command-line.ts';
import { argumentsOf, parseLine } from '../docs/shell.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { faultsOfLine, withAllBelow } from './parse-only.ts';

const { terminal, out } = createFakeTerminal();
const commands = withAllBelow(createProgram(terminal, () => undefined)).filter(
  ({ parent }) => parent !== null,
);

function examplesOf(command: (typeof commands)[number]): readonly string[] {
  const before = out().length;
  command.outputHelp();
  const [, after = ''] = out().slice(before).split('Examples:\n');
  // The line about global options follows after an empty line.
  const [examples = ''] = after.split('\n\n');
  return examples.split('\n').map((line) => line.trim());
}

describe.each(commands.map((command) => [pathOf(command), command] as const))(
  'the help of %s',
  (path, command) => {
    test('has examples, which the command accepts', async () => {
      const lines = examplesOf(command);

      expect(lines.join('')).not.toBe('');
      for (const line of lines) {
        const [argv = []] = parseLine(`npx ${line}`).stages.map(argumentsOf);
        expect(line.startsWith(`platform-sync ${path}`)).toBe(true);
        expect(await faultsOfLine(argv)).toBe('');
      }
    });
  },
);

test('this check finds an example that its command does not accept', async () => {
  expect(await faultsOfLine(['runs', '--limit', 'many'])).not.toBe('');
  expect(await faultsOfLine(['runs', '--limmit', '3'])).not.toBe('');
});
