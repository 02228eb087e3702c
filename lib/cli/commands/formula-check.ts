import type { Run } from '../commands.ts';
import { analyze, describeAnalysis, withoutFinalLineEnd } from '../formula/formula-text.ts';
import { readText } from '../options/files.ts';

/** What the platform would say about a formula. */
export default (async ([file], _, terminal) => {
  const { analysis, checkSum } = analyze(withoutFinalLineEnd(await readText(file, terminal)));
  return {
    json: { ...analysis, checkSum },
    words: describeAnalysis(analysis, file),
    ended: analysis.status === 'VALID' ? 'done' : 'failed',
  };
}) satisfies Run<'formula check'>;
