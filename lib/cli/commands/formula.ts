import type { Command } from 'commander';
import { checkSum } from '../../formula/checksum.ts';
import { printJson } from '../../json/json.ts';
import type { AddCommand, Finish } from '../command.ts';
import { analyze, describeAnalysis, withoutFinalLineEnd } from '../formula-text.ts';
import { readText } from '../options.ts';
import { exitCodes, shownLines, type Terminal } from '../terminal.ts';
import { addFormulaLog } from './formula-log.ts';
import { addFormulaSet } from './formula-set.ts';

/** `formula check` parses a formula here; `formula set` sets one on the platform; `formula log` shows earlier ones. */
export const addFormula: AddCommand = (program, terminal, finish) => {
  const formula = program
    .command('formula')
    .description('Check a formula here, set one on the platform, or show what was set before.');
  addCheck(formula, terminal, finish);
  addFormulaSet(formula, terminal, finish);
  addFormulaLog(formula, terminal, finish);
};

function addCheck(formula: Command, terminal: Terminal, finish: Finish): void {
  formula
    .command('check')
    .description('Parse a formula here and report what the platform would say about it.')
    .argument('<file>', 'the file that holds the formula; - for standard input')
    .option('--json', 'print the analysis as one JSON value')
    .action(async (file: string, flags: { readonly json?: true }) => {
      const text = withoutFinalLineEnd(await readText(file, terminal));
      const analysis = await analyze(text);
      if (flags.json) terminal.out(printJson({ ...analysis, checkSum: checkSum(text) }, 2));
      else terminal.out(shownLines(describeAnalysis(analysis, file)));
      finish(analysis.status === 'VALID' ? exitCodes.done : exitCodes.failed);
    });
}
