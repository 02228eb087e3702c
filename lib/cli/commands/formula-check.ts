import { judgeFormula } from '../../formula/index.ts';
import { lowerCase } from '../../model/rules/index.ts';
import type { Run } from '../command.ts';
import { readText, withoutFinalLineEnd } from '../options/files.ts';

/** Describes a formula, one fact a line. If it is INVALID, lists its faults. */
function describeFormula({ analysis, faults, warnings }: ReturnType<typeof judgeFormula>): string {
  if (analysis.status === 'INVALID') return faults.join('\n');
  const { dataType, functions, columns, aggregated, analytic, nonAggregatedColumns, references } = analysis;
  return [
    `valid, ${dataType}${aggregated ? ', aggregated' : ''}${analytic ? ', analytic' : ''}`,
    `functions: ${functions.join(', ') || 'none'}`,
    `columns: ${columns.join(', ') || 'none'}`,
    ...(nonAggregatedColumns.length > 0 ? [`not aggregated: ${nonAggregatedColumns.join(', ')}`] : []),
    ...(references.length > 0
      ? [`uses: ${references.map(({ kind, id }) => `${kind} ${id}`).join(', ')}`]
      : []),
    ...warnings,
  ].join('\n');
}

/** Parses a formula by the platform's rules, without the platform. Exits with 1 if it is INVALID. */
export default (async ([file], _, terminal) => {
  const judged = judgeFormula(withoutFinalLineEnd(await readText(file, terminal)), file);
  const { analysis, checkSum } = judged;
  return {
    json: { ...analysis, status: lowerCase(analysis.status), checkSum },
    words: describeFormula(judged),
    ended: analysis.status === 'VALID' ? 'done' : 'failed',
  };
}) satisfies Run<'formula check'>;
