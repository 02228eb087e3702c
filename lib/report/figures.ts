import { flagBits } from '../model/flags.ts';
import { calculationFlags, cardFlags, MOST_LISTED, type ReportFacts } from './facts.ts';

/** The flags of which the list has the first. */
const { locked, archived, oldest } = calculationFlags;
const figuresOfCalculations = { ...flagBits, locked, archived, oldest };

/** How many things have a flag, and the first of them. */
type Figure = { readonly count: number; readonly ids: readonly string[] };

type Flagged<F extends string> = {
  readonly flags: Readonly<Record<F, number>>;
  readonly list: { readonly columns: { readonly id: readonly string[]; readonly flags: readonly number[] } };
};

/** The figures of the report for machines; null where nothing is published. */
export const figuresOf = ({
  model,
  calculations,
  cards,
  datasets,
  owners,
  files,
  dataFiles,
  jobs,
}: ReportFacts) => ({
  /** As in SQL. */
  as_of: new Date(model.asOfMs).toISOString(),
  as_of_runs: model.runs,
  calculations: calculations
    ? { total: calculations.total, ...flagFigures(calculations, figuresOfCalculations) }
    : null,
  cards: cards ? { total: cards.total, ...flagFigures(cards, cardFlags) } : null,
  datasets: datasetsOf(datasets),
  datasets_total: datasets?.total ?? 0,
  owners: ownersOf(owners),
  owners_total: owners?.total ?? 0,
  files: files ? { total: files.total, bytes: files.bytes, filesets: files.filesets } : null,
  data_files: dataFiles ? { total: dataFiles.total } : null,
  jobs: jobs.types,
});

/** The list has the first of each flag, whether it is whole or not: `MOST_LISTED` of them. */
function flagFigures<F extends string>(
  { flags, list: { columns } }: Flagged<NoInfer<F>>,
  bits: Readonly<Record<F, number>>,
): Readonly<Record<F, Figure>> {
  const names = Object.keys(bits) as F[];
  const idsOf = (bit: number) =>
    columns.id.filter((_, row) => ((columns.flags[row] ?? 0) & bit) !== 0).slice(0, MOST_LISTED);
  const figures: Partial<Record<F, Figure>> = {};
  for (const name of names) figures[name] = { count: flags[name], ids: idsOf(bits[name]) };
  return figures as Record<F, Figure>;
}

/** The columns of `datasets` in SQL. */
const datasetsOf = (datasets: ReportFacts['datasets']) =>
  rowsOf(datasets?.list.columns).map(({ id: dataset_id, ...counts }) => ({ dataset_id, ...counts }));

/** The columns of `owners` in SQL. */
const ownersOf = (owners: ReportFacts['owners']) =>
  rowsOf(owners?.list.columns).map(({ id: user_id, name, ...counts }) => ({
    ...{ user_id, name: name || null },
    ...counts,
  }));

type RowOf<C> = { readonly [Name in keyof C]: C[Name] extends readonly (infer Value)[] ? Value : never };

const rowsOf = <C extends { readonly id: readonly string[] }>(columns: C | undefined): readonly RowOf<C>[] =>
  (columns?.id ?? []).map((_, row) => {
    const cells = Object.entries(columns ?? {}).map(([name, values]) => [name, values[row]]);
    return Object.fromEntries(cells) as RowOf<C>;
  });
