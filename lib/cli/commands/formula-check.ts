import { printJson } from '../../base/index.ts';
import type { Run } from '../commands.ts';
import { analyze, describeAnalysis, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { readText } from '../options/files.ts';
import { exitCodes, shownLines } from '../terminal/terminal.ts';

/** What the platform would say about a formula. */
export default (async ([file], { json }, terminal) => {
  const { analysis, checkSum } = analyze(withoutFinalLineEnd(await readText(file, terminal)));
  if (json) terminal.out(printJson({ ...analysis, checkSum }, 2));
  else terminal.out(shownLines(describeAnalysis(analysis, file)));
  return analysis.status === 'VALID' ? exitCodes.done : exitCodes.failed;
}) satisfies Run<'formula check'>;
