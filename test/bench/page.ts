import type { Bench, Row } from './bench.ts';

/** A row of the page. `at`: the commit and the day of the measurement. */
type Line = { readonly cells: readonly [string, string, string]; readonly at: string };

/** How much a figure varies between runs of the same code: timings on a shared machine. */
const NOISE = 0.2;

const HEAD = ['| measured | value | bound | at |', '|---|---|---|---|'] as const;

/**
 * Replaces the rows of one bench that have the same names. The others stay, with the commit of their measurement, since
 * a bench may be run for one size or scenario only.
 */
export function withRows(page: string, { name, about }: Bench, rows: readonly Row[], at: string): string {
  const lines = new Map(linesOf(page, name).map((line) => [line.cells[0], line]));
  for (const row of rows) lines.set(row.measured, { cells: cellsOf(row), at });
  const table = [...lines.values()].map((line) => `| ${[...line.cells, line.at].join(' | ')} |`);
  const section = [`## ${name}`, '', about, '', ...HEAD, ...table, ''].join('\n');
  const { before, after } = around(page, name);
  return [before.trimEnd(), '', section, ...(after === '' ? [] : [after])].join('\n');
}

/** Describes which values differ from the page by more than their noise. */
export function differences(page: string, { name }: Bench, rows: readonly Row[]): readonly string[] {
  const lines = new Map(linesOf(page, name).map((line) => [line.cells[0], line]));
  return rows.flatMap((row) => {
    const line = lines.get(row.measured);
    if (line === undefined || !differ(figuresIn(line.cells[1]), figuresIn(row.value))) return [];
    return [`${name}, ${row.measured}: ${line.cells[1]} (${line.at}), now ${row.value}`];
  });
}

const cellsOf = ({ measured, value, bound = '', ok }: Row) =>
  [measured, value, ok === false ? `${bound}: missed` : bound] as const;

const figuresIn = (text: string): readonly number[] =>
  (text.match(/\d[\d,]*(?:\.\d+)?/g) ?? []).map((digits) => Number(digits.replaceAll(',', '')));

const differ = (a: readonly number[], b: readonly number[]): boolean =>
  a.length !== b.length || a.some((figure, index) => isFar(figure, b[index] ?? Number.NaN));

const isFar = (a: number, b: number): boolean => Math.abs(a - b) > NOISE * Math.max(a, b);

function linesOf(page: string, name: string): readonly Line[] {
  return around(page, name)
    .section.split('\n')
    .filter((line) => line.startsWith('| ') && line !== HEAD[0])
    .map((line) => {
      const [measured = '', value = '', bound = '', at = ''] = line.slice(2, -2).split(' | ');
      return { cells: [measured, value, bound], at };
    });
}

/** The section of a bench and the text before and after it; a new section goes last. */
function around(page: string, name: string) {
  const from = page.indexOf(`\n## ${name}\n`);
  if (from === -1) return { before: page, section: '', after: '' };
  const next = page.indexOf('\n## ', from + 1);
  const end = next === -1 ? page.length : next + 1;
  return { before: page.slice(0, from), section: page.slice(from, end), after: page.slice(end) };
}
