import * as z from 'zod/mini';
import { recordOf } from '../../json/record-schema.ts';
import { isKey } from '../../store/key.ts';
import type { Store } from '../../store/store.ts';
import { parseStored, printStored, StoredObjectError } from '../../store/stored-json.ts';
import { parquetFormat } from '../../tables/parquet/parquet-schema.ts';
import { type ModelTable, modelColumns } from '../model-columns.ts';
import type { LastRun } from './last-runs.ts';

const key = z.string().check(z.refine(isKey));

const table = z.object({ key, bytes: z.number(), sha256: z.string() });

/** The columns of its tables: a model with others is none. */
const FORMAT = parquetFormat(
  Object.fromEntries(Object.entries(modelColumns).map(([name, columns]) => [name, JSON.stringify(columns)])),
);

const modelSchema = z.object({
  version: z.literal(1),
  format: z.literal(FORMAT),
  /** When its runs were the last ones: ISO text. */
  asOf: z.string(),
  /** The runs that it was computed over, by their places, with the keys of their manifests. */
  runs: recordOf(z.object({ run: z.string(), manifest: key })),
  tables: z.object({
    calculations: table,
    cards: table,
    datasets: table,
    owners: table,
    uses: table,
  } satisfies Record<ModelTable, typeof table>),
});

/** Where the model is, and what it was computed over. */
export type StoredModel = z.infer<typeof modelSchema>;

export const MODEL_FOLDER = 'model/';
const LATEST = `${MODEL_FOLDER}latest.json`;

/** What is stored: no model if there is none, or it is damaged. */
export type FoundModel = { readonly model: StoredModel | undefined; readonly etag: string | undefined };

/** The model of a store. */
export async function findModel(store: Pick<Store, 'get'>): Promise<FoundModel> {
  const stored = await store.get(LATEST);
  return { model: stored && readModel(stored.body), etag: stored?.etag };
}

function readModel(body: Buffer): StoredModel | undefined {
  try {
    return parseStored(LATEST, body, modelSchema);
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

/** What is said of tables that were computed over runs. */
export const describeModel = (
  tables: StoredModel['tables'],
  { runs, asOfMs }: { readonly runs: readonly LastRun[]; readonly asOfMs: number },
): StoredModel => ({
  version: 1,
  format: FORMAT,
  asOf: new Date(asOfMs).toISOString(),
  runs: runsIn(runs),
  tables,
});

/** Points at another model if what is there is still what was read; false if it is not. */
export async function moveModel(
  store: Pick<Store, 'put'>,
  model: StoredModel,
  etag: string | undefined,
): Promise<boolean> {
  const condition = etag === undefined ? ({ ifAbsent: true } as const) : { ifMatch: etag };
  const put = await store.put(LATEST, printStored(model), { condition });
  return put.kind === 'stored';
}

/** The runs of a model, as it names them. */
export const runsIn = (runs: readonly LastRun[]): StoredModel['runs'] =>
  Object.fromEntries(runs.map(({ place, manifest: { run }, key: manifest }) => [place, { run, manifest }]));

/** True if a model was computed over other runs than these. */
export function isBehind({ runs }: Pick<StoredModel, 'runs'>, current: readonly LastRun[]): boolean {
  const now = Object.entries(runsIn(current));
  if (now.length !== Object.keys(runs).length) return true;
  return now.some(([place, { manifest }]) => runs[place]?.manifest !== manifest);
}
