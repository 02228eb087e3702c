import * as z from 'zod/mini';
import { recordOf } from '../../base/index.ts';
import { isKey, parseStored, type Store, unlessDamaged } from '../../store/index.ts';
import { parquetFormat } from '../../tables/parquet/parquet-schema.ts';
import { type ModelTable, modelColumns } from '../model-columns.ts';
import { USES_FORMAT } from '../uses/part-uses.ts';
import type { LastRun } from './last-runs.ts';

const key = z.string().check(z.refine(isKey));

const table = z.object({ key, bytes: z.number(), sha256: z.string() });

/** The columns of its tables, and what is packed: a model with others is none. Goes up with the rules. */
const VERSION = 1;
export const MODEL_FORMAT = parquetFormat({
  ...Object.fromEntries(
    Object.entries(modelColumns).map(([name, columns]) => [name, JSON.stringify(columns)]),
  ),
  packed: `${VERSION} ${USES_FORMAT}`,
});

const modelSchema = z.object({
  version: z.literal(1),
  format: z.literal(MODEL_FORMAT),
  /** When its runs were the last ones: ISO text. */
  asOf: z.string(),
  /** The runs that it was computed over, by their places, with the keys of their manifests. */
  runs: recordOf(z.object({ run: z.string(), manifest: key })),
  /** What SQL reads. */
  tables: z.object({
    calculations: table,
    cards: table,
    datasets: table,
    owners: table,
    uses: table,
  } satisfies Record<ModelTable, typeof table>),
  /** The key of all of it for whoever reads it here. */
  packed: key,
});

/** Where the model is, and what it was computed over. */
export type StoredModel = z.infer<typeof modelSchema>;

export const MODEL_FOLDER = 'model/';
export const MODEL_KEY = `${MODEL_FOLDER}latest.json`;

/** What is stored: no model if there is none, or it is damaged. */
export type FoundModel = { readonly model: StoredModel | undefined; readonly etag: string | undefined };

/** The model of a store. */
export async function findModel(store: Pick<Store, 'get'>): Promise<FoundModel> {
  const stored = await store.get(MODEL_KEY);
  const parsed = Promise.try(() => stored && parseStored(MODEL_KEY, stored.body, modelSchema));
  return { model: await parsed.catch(unlessDamaged()), etag: stored?.etag };
}

/** All objects of a model but the one that points at it. */
export const keysOfModel = ({
  tables,
  packed,
}: Pick<StoredModel, 'tables' | 'packed'>): readonly string[] => [
  ...Object.values(tables).map((each) => each.key),
  packed,
];

/** The runs of a model, as it names them. */
export const runsIn = (runs: readonly LastRun[]): StoredModel['runs'] =>
  Object.fromEntries(runs.map(({ place, manifest: { run }, key: manifest }) => [place, { run, manifest }]));

/** True if a model was computed over other runs than these. */
export function isBehind({ runs }: Pick<StoredModel, 'runs'>, current: readonly LastRun[]): boolean {
  const now = Object.entries(runsIn(current));
  if (now.length !== Object.keys(runs).length) return true;
  return now.some(([place, { manifest }]) => runs[place]?.manifest !== manifest);
}
