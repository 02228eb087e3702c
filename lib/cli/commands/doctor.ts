import { defineCommand } from '../command.ts';
import type { Checked } from '../doctor/examine.ts';
import { exitCodes, shownLines } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';

/** `doctor`: checks in order what the settings name, and says what to do about each that is not well. */
export const doctor = defineCommand({
  does: 'Check settings, host, token, clock, bucket, queue, table and rights, in this order, and say what to do.',
  options: [['--json', 'print the checks as one JSON value']],
  examples: ['doctor', 'doctor --profile acme', 'doctor --json'],
  async run(_, { json }, terminal) {
    const { examine } = await import('../doctor/examine.ts');
    const all = await examine(terminal, (checked) => {
      if (!json) terminal.out(shownLines(textOf(checked)));
    });
    const isWell = all.every(({ status }) => status !== 'failed');
    if (json) terminal.out(inJson({ well: isWell, checks: all }));
    return isWell ? exitCodes.done : exitCodes.failed;
  },
});

const WIDTH = 10;

function textOf(checked: Checked): string {
  const { name, status, detail } = checked;
  const indent = ' '.repeat(2 * WIDTH);
  const lines = detail.split('\n').join(`\n${indent}`);
  const advice =
    checked.status === 'failed' && checked.advice !== undefined ? `\n${indent}→ ${checked.advice}` : '';
  return `${name.padEnd(WIDTH)}${status.padEnd(WIDTH)}${lines}${advice}`;
}
