import { itemsOf, type Random, randomFor } from './random.ts';

type ColumnType = 'STRING' | 'LONG' | 'DECIMAL' | 'DOUBLE' | 'DATE' | 'DATETIME';

/** A column of a dataset. */
export type Column = { readonly name: string; readonly type: ColumnType };

/** A table that calculations and cards are based on. */
export type Dataset = {
  readonly id: string;
  readonly name: string;
  /** Names are unique. At least two columns contain text, two contain numbers and one contains dates. */
  readonly columns: readonly Column[];
};

/** The dataset with this index, drawn from the seed. */
export function datasetAt(seed: number, index: number): Dataset {
  const random = randomFor(seed, 'dataset', index);
  const id = random.uuid();
  const subject = random.pick(SUBJECTS);
  const name = `${subject}${random.pick(QUALIFIERS)}`;
  const columns = new Map<string, ColumnType>();
  const draw = (pool: readonly Column[], count: number) => {
    const start = random.below(pool.length);
    for (let step = 0; step < count; step += 1) {
      const column = pool[(start + step * 5) % pool.length];
      if (column !== undefined) columns.set(column.name, column.type);
    }
  };
  draw(TEXTS, 3 + random.below(4));
  draw(NUMBERS, 4 + random.below(6));
  draw(TIMES, 2 + random.below(4));
  return { id, name, columns: [...columns].map(([column, type]) => ({ name: column, type })) };
}

/** The number of deleted datasets to which calculations still link, as in an instance that is some years old. */
const GONE_DATASETS = 400;

const goneIdAt = (seed: number, index: number): string => randomFor(seed, 'gone dataset', index).uuid();

/** Draws the id of a dataset that no longer exists. */
export const goneDatasetId = (seed: number, random: Random): string =>
  goneIdAt(seed, random.below(GONE_DATASETS));

/** The HTTP status of each dataset that no longer exists, by its id: 410 if it is archived, 404 if it was deleted. */
export const goneDatasets = (seed: number): ReadonlyMap<string, 404 | 410> =>
  new Map(
    Array.from({ length: GONE_DATASETS }, (_, index) => [goneIdAt(seed, index), index % 2 ? 404 : 410]),
  );

const SUBJECTS = itemsOf`Orders|Invoices|Web sessions|Support tickets|Inventory|Payroll|Leads|Shipments|Returns|
  Campaign spend|Call center|Sensor readings|Budget|Headcount|Subscriptions|Kundenumsatz|売上明細`;

const QUALIFIERS = [
  '',
  ' (EMEA)',
  ' (NA)',
  ' v2',
  ' – daily',
  ' | PROD',
  ' [archive]',
  ' 2024',
  ' & targets',
  ' raw',
] as const;

const columns = (type: ColumnType, names: string): readonly Column[] =>
  names.split('|').map((name) => ({ name, type }));

const TEXTS = [
  ...columns('STRING', 'Region|Country|Customer Name|Segment|Status|Sales Rep|Product Category|SKU|Channel'),
  ...columns('STRING', 'Straße|地域|Priority|E-mail|Campaign/Source|Store #|Currency'),
];

const NUMBERS: readonly Column[] = [
  ...columns('LONG', 'Quantity|Orders|Clicks|Impressions|Headcount|Returned Units|Visits'),
  ...columns('DECIMAL', 'Revenue|Cost|Discount|Tax Amount|Budget|Umsatz (€)|Net Price|売上'),
  ...columns('DOUBLE', 'Weight kg|Conversion Rate|Latitude|Score'),
];

const TIMES: readonly Column[] = [
  ...columns('DATE', 'Order Date|Ship Date|Due Date|Hire Date|Fälligkeit'),
  ...columns('DATETIME', 'Created At|Updated At|Closed At|Last Login'),
];
