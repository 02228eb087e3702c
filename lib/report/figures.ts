import { flagBits } from '../model/rules/index.ts';
import { calculationFlags, cardFlags, MAX_LISTED, type ReportFacts } from './facts.ts';

/** The flags of which the list has the first. */
const { locked, archived, oldest } = calculationFlags;
const figuresOfCalculations = { ...flagBits, locked, archived, oldest };

type Flagged<F extends string> = {
  readonly flags: Readonly<Record<F, number>>;
  readonly list: { readonly columns: { readonly id: readonly string[]; readonly flags: readonly number[] } };
};

/** The figures of the report for machines; null where nothing is published. Datasets and owners as in SQL. */
export function figuresOf(facts: ReportFacts) {
  const { model, calculations, cards, datasets, owners, files, dataFiles, jobs } = facts;
  return {
    as_of: new Date(model.asOfMs).toISOString(),
    as_of_runs: model.runs,
    calculations: calculations
      ? { total: calculations.total, ...flagFigures(calculations, figuresOfCalculations) }
      : null,
    cards: cards ? { total: cards.total, ...flagFigures(cards, cardFlags) } : null,
    datasets: rowsOf(datasets?.list.columns).map(({ id: dataset_id, ...counts }) => ({
      ...{ dataset_id, ...counts },
    })),
    datasets_total: datasets?.total ?? 0,
    owners: rowsOf(owners?.list.columns).map(({ id: user_id, name, ...counts }) => ({
      ...{ user_id, name: name || null, ...counts },
    })),
    owners_total: owners?.total ?? 0,
    files: files ? { total: files.total, bytes: files.bytes, filesets: files.filesets } : null,
    data_files: dataFiles ? { total: dataFiles.total } : null,
    jobs: jobs.types,
  };
}

/** How many things have each flag, and the first of them: the list has `MAX_LISTED`, whether it is whole or not. */
function flagFigures<F extends string>(
  { flags, list: { columns } }: Flagged<NoInfer<F>>,
  bits: Readonly<Record<F, number>>,
) {
  const idsOf = (bit: number) =>
    columns.id.filter((_, row) => ((columns.flags[row] ?? 0) & bit) !== 0).slice(0, MAX_LISTED);
  const names = Object.keys(bits) as F[];
  const figures = names.map((name) => [name, { count: flags[name], ids: idsOf(bits[name]) }] as const);
  return Object.fromEntries(figures) as Record<F, (typeof figures)[number][1]>;
}

type RowOf<C> = { readonly [Name in keyof C]: C[Name] extends readonly (infer Value)[] ? Value : never };

const rowsOf = <C extends { readonly id: readonly string[] }>(columns: C | undefined): readonly RowOf<C>[] =>
  (columns?.id ?? []).map((_, row) => {
    const cells = Object.entries(columns ?? {}).map(([name, values]) => [name, values[row]]);
    return Object.fromEntries(cells) as RowOf<C>;
  });
