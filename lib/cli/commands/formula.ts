import { printJson } from '../../base/index.ts';
import { type CommandDefinition, defineCommand } from '../command.ts';
import { analyze, describeAnalysis, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { readText } from '../options/options.ts';
import { exitCodes, shownLines } from '../terminal/terminal.ts';
import { formulaLog } from './formula-log.ts';
import { formulaSet } from './formula-set.ts';

/** `formula check FILE`: what the platform would say about a formula. */
const check = defineCommand({
  does: 'Parse a formula here and report what the platform would say about it.',
  arguments: [['<file>', 'the file that holds the formula; - for standard input']],
  options: [['--json', 'print the analysis as one JSON value']],
  examples: ['formula check formula.txt', 'formula check - --json'],
  async run([file], { json }, terminal) {
    const text = withoutFinalLineEnd(await readText(file, terminal));
    const { analysis, checkSum } = await analyze(text);
    if (json) terminal.out(printJson({ ...analysis, checkSum }, 2));
    else terminal.out(shownLines(describeAnalysis(analysis, file)));
    return analysis.status === 'VALID' ? exitCodes.done : exitCodes.failed;
  },
});

/** `formula check` parses a formula here; `formula set` sets one on the platform; `formula log` shows earlier ones. */
export const formula: CommandDefinition = {
  does: 'Check a formula here, set one on the platform, or show what was set before.',
  examples: ['formula check formula.txt', 'formula set 1008 formula.txt --dry-run', 'formula log 1008'],
  below: { check, set: formulaSet, log: formulaLog },
};
