import * as z from 'zod/mini';
import { recordOf } from '../../json/record-schema.ts';
import { isKey } from '../../store/key.ts';
import type { Store } from '../../store/store.ts';
import { findStored, printStored } from '../../store/stored-json.ts';
import type { LastRun } from './last-runs.ts';

/** The tables of a model. */
export const modelTables = ['calculations', 'cards', 'datasets', 'owners'] as const;

export type ModelTable = (typeof modelTables)[number];

const key = z.string().check(z.refine(isKey));

const modelSchema = z.object({
  version: z.literal(1),
  /** When it was computed: ISO text. */
  asOf: z.string(),
  /** The runs that it was computed over, by their places, with the keys of their manifests. */
  runs: recordOf(z.object({ run: z.string(), manifest: key })),
  /** The keys of its tables. */
  tables: z.object({ calculations: key, cards: key, datasets: key, owners: key }),
});

/** Where the model is, and what it was computed over. */
export type StoredModel = z.infer<typeof modelSchema>;

export const MODEL_FOLDER = 'model/';
const LATEST = `${MODEL_FOLDER}latest.json`;

/** The model of a store with its etag; undefined if there is none. Throws `StoredObjectError` if it is damaged. */
export async function readModel(
  store: Pick<Store, 'get'>,
): Promise<{ readonly model: StoredModel; readonly etag: string } | undefined> {
  const stored = await findStored(store, LATEST, modelSchema);
  return stored && { model: stored.value, etag: stored.etag };
}

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
