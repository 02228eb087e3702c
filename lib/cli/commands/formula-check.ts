import { judgeFormula } from '../../formula/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import type { Run } from '../command.ts';
import { describeFormula, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { readText } from '../options/files.ts';

/** What the platform would say about a formula. */
export default (async ([file], _, terminal) => {
  const judged = judgeFormula(withoutFinalLineEnd(await readText(file, terminal)), file);
  const { analysis, checkSum } = judged;
  return {
    json: { ...analysis, status: lowerCase(analysis.status), checkSum },
    words: describeFormula(judged),
    ended: analysis.status === 'VALID' ? 'done' : 'failed',
  };
}) satisfies Run<'formula check'>;
