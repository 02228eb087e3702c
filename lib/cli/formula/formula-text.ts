import type { judgeFormula } from '../../formula/index.ts';

/** What the analysis knows of a formula, a line each; the faults of an INVALID one. */
export function describeFormula({ analysis, faults, warnings }: ReturnType<typeof judgeFormula>): string {
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

/** Editors end a file with a line break that is not part of the formula. */
export const withoutFinalLineEnd = (text: string): string =>
  text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
