import { describedNodes, type LastRun, type Model, type ModelColumns, openModel } from '../../model/index.ts';
import { adjacencyOf, canonicalId, IN_SNAPSHOT, partsOfColumn } from '../../model/rules/index.ts';
import type { Source } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';
import type { Catalog, Input, LineageContext, Step } from './catalog.ts';
import { datahub } from './datahub.ts';
import { openLineage } from './open-lineage.ts';

const catalogs = { openlineage: openLineage, datahub } as const satisfies Readonly<Record<string, Catalog>>;
export type LineageFormat = keyof typeof catalogs;

type LineageOptions = {
  readonly store: Store;
  readonly format: LineageFormat;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The lineage of the last published runs, as lines: the same ones for the same store. Undefined if nothing is published.
 * Memory: the model, and a file of records with its columns. Throws `StoredObjectError`.
 */
export async function lineageOf({ store, format, signal }: LineageOptions) {
  const { model, runs, columns } = await openModel({ store, now: Date.now, signal });
  const of = runs.filter(({ source }) => source === 'calculations' || source === 'cards');
  const [first] = of;
  if (first === undefined) return undefined;
  const context: LineageContext = {
    host: first.manifest.platform,
    datasets: model.datasets.map(({ dataset_id }) => dataset_id).sort(),
    owners: model.owners.map(({ user_id: id, name }) => ({ id, name })),
  };
  const catalog: Catalog = catalogs[format];
  async function* entries(): AsyncGenerator<string> {
    for (const entry of catalog.before(context)) yield JSON.stringify(entry);
    for await (const step of stepsOf(model, of, columns)) {
      signal?.throwIfAborted();
      for (const entry of catalog.entries(step, context)) yield JSON.stringify(entry);
    }
  }
  return { runs: of, lines: () => (catalog.isArray ? inArray(entries()) : entries()) };
}

async function* inArray(entries: AsyncIterable<string>): AsyncGenerator<string> {
  let start = '[';
  for await (const entry of entries) {
    yield `${start}${entry}`;
    start = ',';
  }
  yield start === '[' ? '[]' : ']';
}

const latest = (runs: readonly LastRun[]): string =>
  runs.reduce((last, { manifest: { startedAt } }) => (startedAt > last ? startedAt : last), '');

/** All calculations and cards: those with records in their order, then those that are only named by others. */
async function* stepsOf(model: Model, runs: readonly LastRun[], columns: ModelColumns): AsyncGenerator<Step> {
  const { things, graph, flags, isMissing } = model;
  const inputsOf = createInputs(model);
  const aboutRuns = (source: Source) => {
    const own = runs.filter((run) => run.source === source);
    const known = own.length > 0 ? own : runs;
    return { run: known.map(({ manifest }) => manifest.run).join(' '), at: latest(known) };
  };
  const about = { calculation: aboutRuns('calculations'), card: aboutRuns('cards') };
  for await (const described of describedNodes(model, columns, 'calculations'))
    for (const [node, { name, owner }] of described) {
      const owners = [canonicalId(owner) ?? []].flat();
      yield {
        ...things.thingAt(node),
        kind: 'calculation',
        name,
        owners,
        ...inputsOf(node),
        ...about.calculation,
      };
    }
  // They are in the order of the cards.
  const { node: owned, owner } = model.cardOwners;
  let next = 0;
  for await (const described of describedNodes(model, columns, 'cards'))
    for (const [node, { name }] of described) {
      const owners: string[] = [];
      for (; owned[next] === node; next += 1) owners.push(model.owners[owner[next] ?? 0]?.user_id ?? '');
      yield { ...things.thingAt(node), kind: 'card', name, owners, ...inputsOf(node), ...about.card };
    }
  const users = new Set(graph.user);
  for (const node of users) {
    const { kind, id } = things.thingAt(node);
    if (kind !== 'calculation' && kind !== 'card') continue;
    if (((flags[node] ?? 0) & IN_SNAPSHOT) !== 0 || isMissing(node)) continue;
    yield { kind, id, name: null, owners: [], ...inputsOf(node), ...about[kind] };
  }
}

function createInputs({ things, graph }: Model) {
  const { starts, edges, to } = adjacencyOf({ nodes: things.count, from: graph.user, to: graph.used });
  return (node: number): Pick<Step, 'inputs' | 'columns'> => {
    const used = [...edges.subarray(starts[node], starts[node + 1])].map((edge) => to[edge] ?? 0);
    const all = used.filter((other) => other !== node).map((other) => things.thingAt(other));
    const inputs = all.filter(
      (each): each is Input => each.kind === 'dataset' || each.kind === 'calculation',
    );
    const columns = all.filter(({ kind }) => kind === 'column').map(({ id }) => partsOfColumn(id));
    return {
      inputs: inputs.sort((a, b) => compared(a.kind, b.kind) || compared(a.id, b.id)),
      // Of a calculation without a dataset it is not known whose columns they are.
      columns: columns
        .filter(({ dataset }) => dataset !== '')
        .sort((a, b) => compared(a.dataset, b.dataset) || compared(a.column, b.column)),
    };
  };
}

const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
