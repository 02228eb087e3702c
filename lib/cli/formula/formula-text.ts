import type { judgeFormula } from '../../formula/index.ts';

/** Faults or warnings, a line each, with the file that they are in. */
export const inFile = (file: string, lines: readonly string[]): readonly string[] =>
  lines.map((line) => `${file}:${line}`);

/** What is known of a formula, a line each; of an INVALID one its faults, each with its place in `file`. */
export function describeAnalysis(
  { analysis, faults, warnings }: ReturnType<typeof judgeFormula>,
  file: string,
): string {
  if (analysis.status === 'INVALID') return inFile(file, faults).join('\n');
  const { dataType, functions, columns, aggregated, analytic, nonAggregatedColumns, references } = analysis;
  return [
    `VALID, ${dataType}${aggregated ? ', aggregated' : ''}${analytic ? ', analytic' : ''}`,
    `functions: ${functions.join(', ') || 'none'}`,
    `columns: ${columns.join(', ') || 'none'}`,
    ...(nonAggregatedColumns.length > 0 ? [`not aggregated: ${nonAggregatedColumns.join(', ')}`] : []),
    ...(references.length > 0
      ? [`uses: ${references.map(({ kind, id }) => `${kind} ${id}`).join(', ')}`]
      : []),
    ...inFile(file, warnings),
  ].join('\n');
}

/** Editors end a file with a line break that is not part of the formula. */
export const withoutFinalLineEnd = (text: string): string =>
  text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');
