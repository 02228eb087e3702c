import { checkSum, judgeFormula } from '../../formula/index.ts';
import type { Run } from '../commands.ts';
import { describeAnalysis, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { readText } from '../options/files.ts';

/** What the platform would say about a formula. */
export default (async ([file], _, terminal) => {
  const text = withoutFinalLineEnd(await readText(file, terminal));
  const judged = judgeFormula(text);
  return {
    json: { ...judged.analysis, checkSum: checkSum(text) },
    words: describeAnalysis(judged, file),
    ended: judged.analysis.status === 'VALID' ? 'done' : 'failed',
  };
}) satisfies Run<'formula check'>;
