import { analyzeFormula, checkSum, type FormulaAnalysis } from '../../formula/index.ts';

export const analyze = (text: string) => ({ analysis: analyzeFormula(text), checkSum: checkSum(text) });

/** What is known of a formula, a line each; of an INVALID one its faults, each with its place in `file`. */
export function describeAnalysis(analysis: FormulaAnalysis, file: string): string {
  if (analysis.status === 'INVALID') {
    return analysis.faults
      .map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`)
      .join('\n');
  }
  const { dataType, functions, columns, aggregated, analytic, nonAggregatedColumns, references } = analysis;
  return [
    `VALID, ${dataType}${aggregated ? ', aggregated' : ''}${analytic ? ', analytic' : ''}`,
    `functions: ${functions.join(', ') || 'none'}`,
    `columns: ${columns.join(', ') || 'none'}`,
    ...(nonAggregatedColumns.length > 0 ? [`not aggregated: ${nonAggregatedColumns.join(', ')}`] : []),
    ...(references.length > 0
      ? [`uses: ${references.map(({ kind, id }) => `${kind} ${id}`).join(', ')}`]
      : []),
  ].join('\n');
}

/** Editors end a file with a line break that is not part of the formula. */
export const withoutFinalLineEnd = (text: string): string =>
  text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
