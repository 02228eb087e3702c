import { hash } from 'node:crypto';
import { describedNodes, type LastRun, type Model, type ModelColumns, openModel } from '../../model/index.ts';
import { adjacencyOf, canonicalId, IN_SNAPSHOT, partsOfColumn } from '../../model/rules/index.ts';
import type { Source } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';

type LineageFormat = keyof typeof catalogs;

type LineageOptions = {
  readonly store: Store;
  readonly format: LineageFormat;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The lineage of the last published runs, as lines; the same store always gives the same lines. Undefined if nothing is
 * published. Memory holds the model and the columns of one file of records. Throws `StoredObjectError`.
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

/**
 * All calculations and cards: first those with a record, in the order of the records, then those that only other
 * records refer to.
 */
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
  // `cardOwners` is in the order of the cards.
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
      // Columns without a dataset are left out: no dataset of their calculation is known.
      columns: columns
        .filter(({ dataset }) => dataset !== '')
        .sort((a, b) => compared(a.dataset, b.dataset) || compared(a.column, b.column)),
    };
  };
}

const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** The name of the data platform under which DataHub lists these entities. */
const PLATFORM = 'platform-sync';
/** The user to whom DataHub attributes these changes. */
const ACTOR = 'urn:li:corpuser:unknown';

/**
 * DataHub's metadata file: an array of proposals, each with one aspect of an entity. Datasets and calculations become
 * datasets there, cards become charts, and owners become users by their ids.
 */
const datahub: Catalog = {
  isArray: true,
  *before({ host, datasets, owners }) {
    for (const id of datasets)
      yield proposal('dataset', urnOf({ kind: 'dataset', id }, host), 'subTypes', { typeNames: ['Dataset'] });
    for (const { id, name } of owners)
      if (name !== null)
        yield proposal('corpuser', userOf(id), 'corpUserInfo', { active: true, displayName: name });
  },
  *entries({ kind, id, name, owners, inputs, columns, at }, { host }) {
    const stamp = { time: Date.parse(at), actor: ACTOR };
    const urns = inputs.map((input) => urnOf(input, host));
    const title = name || id;
    const own =
      kind === 'card'
        ? `urn:li:chart:(${PLATFORM},${encoded(`${host}/card/${id}`)})`
        : urnOf({ kind, id }, host);
    const entity = kind === 'card' ? 'chart' : 'dataset';
    const of = (aspect: string, json: object) => proposal(entity, own, aspect, json);
    if (kind === 'card') {
      const inputEdges = urns.map((destinationUrn) => ({ destinationUrn }));
      const lastModified = { created: stamp, lastModified: stamp };
      yield of('chartInfo', { title, description: '', lastModified, inputEdges });
    } else {
      yield of('datasetProperties', { name: title, customProperties: {}, tags: [] });
      yield of('subTypes', { typeNames: ['Calculation'] });
      const upstreams = urns.map((dataset) => ({ auditStamp: stamp, dataset, type: 'TRANSFORMED' }));
      const fields = columns.map(({ dataset, column }) =>
        fieldOf(urnOf({ kind: 'dataset', id: dataset }, host), column),
      );
      const fineGrained = {
        upstreamType: 'FIELD_SET',
        upstreams: fields,
        downstreamType: 'FIELD',
        downstreams: [fieldOf(own, 'value')],
        confidenceScore: 1,
      };
      const known = fields.length === 0 ? {} : { fineGrainedLineages: [fineGrained] };
      if (urns.length > 0) yield of('upstreamLineage', { upstreams, ...known });
    }
    const owned = owners.map((owner) => ({ owner: userOf(owner), type: 'BUSINESS_OWNER' }));
    if (owned.length > 0) yield of('ownership', { owners: owned, ownerTypes: {}, lastModified: stamp });
  },
};

const proposal = (entityType: string, entityUrn: string, aspectName: string, json: object) => ({
  entityType,
  entityUrn,
  changeType: 'UPSERT',
  aspectName,
  aspect: { json },
});

/** Percent-encodes the characters that separate the parts of a URN. */
const encoded = (text: string): string => text.replaceAll(/[,()␟]/gu, (each) => ENCODED[each] ?? each);

const ENCODED: Readonly<Record<string, string>> = { ',': '%2C', '(': '%28', ')': '%29', '␟': '%E2%90%9F' };

const urnOf = ({ kind, id }: Input, host: LineageContext['host']): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${PLATFORM},${encoded(`${host}/${kind}/${id}`)},PROD)`;

const fieldOf = (dataset: string, column: string): string =>
  `urn:li:schemaField:(${dataset},${encoded(column)})`;

const userOf = (id: string): string => `urn:li:corpuser:${encoded(id)}`;

/** The producer of the events. It has no version, so that the same store always gives the same bytes. */
const PRODUCER = 'pkg:npm/platform-sync';
const SPEC_URL = 'https://openlineage.io/spec';

/** The version of each facet. */
const FACETS = {
  JobTypeJobFacet: '2-0-4',
  DocumentationJobFacet: '1-1-0',
  OwnershipJobFacet: '1-0-1',
  OwnershipDatasetFacet: '1-0-1',
  SchemaDatasetFacet: '1-2-0',
  ColumnLineageDatasetFacet: '1-2-0',
} as const;

/** The only field of a calculation’s output. */
const FIELD = 'value';

/**
 * OpenLineage's events, one a line. Each calculation is a job that reads datasets and calculations and writes one
 * dataset; each card is a job that only reads. An event's run id is derived from the job and the snapshot's run.
 */
const openLineage: Catalog = {
  isArray: false,
  before: () => [],
  *entries(step, { host }) {
    const { kind, id, owners, inputs, at } = step;
    const namespace = `platform-sync://${host}`;
    const name = `${kind}/${id}`;
    const owned = { owners: owners.map((owner) => ({ name: `user:${owner}`, type: 'OWNER' })) };
    const type = { processingType: 'BATCH', integration: 'PLATFORM_SYNC', jobType: kind.toUpperCase() };
    const job = {
      namespace,
      name,
      facets: {
        jobType: facet('JobTypeJobFacet', type),
        ...(step.name === null
          ? {}
          : { documentation: facet('DocumentationJobFacet', { description: step.name }) }),
        ...(owners.length === 0 ? {} : { ownership: facet('OwnershipJobFacet', owned) }),
      },
    };
    const facets = {
      schema: facet('SchemaDatasetFacet', { fields: [{ name: FIELD }] }),
      ...(owners.length === 0 ? {} : { ownership: facet('OwnershipDatasetFacet', owned) }),
      ...columnLineage(step, namespace),
    };
    yield {
      eventType: 'COMPLETE',
      eventTime: at,
      run: { runId: runId([namespace, name, step.run]) },
      job,
      inputs: inputs.map((input) => ({ namespace, name: `${input.kind}/${input.id}` })),
      outputs: kind === 'calculation' ? [{ namespace, name, facets }] : [],
      producer: PRODUCER,
      schemaURL: `${SPEC_URL}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    };
  },
};

const facet = (name: keyof typeof FACETS, members: object) => ({
  _producer: PRODUCER,
  _schemaURL: `${SPEC_URL}/facets/${FACETS[name]}/${name}.json#/$defs/${name}`,
  ...members,
});

function columnLineage({ columns }: Step, namespace: string) {
  if (columns.length === 0) return {};
  const inputFields = columns.map(({ dataset, column }) => {
    return { namespace, name: `dataset/${dataset}`, field: column };
  });
  return { columnLineage: facet('ColumnLineageDatasetFacet', { fields: { [FIELD]: { inputFields } } }) };
}

/** A UUID of version 8 that is derived from these strings. */
function runId(texts: readonly string[]): string {
  const digits = hash('sha256', texts.join('\n'));
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

const catalogs = { openlineage: openLineage, datahub } as const satisfies Readonly<Record<string, Catalog>>;

/** A calculation or a card, and the things that it is computed from. */
type Step = {
  readonly kind: 'calculation' | 'card';
  readonly id: string;
  /** The name; null if no record has a name. */
  readonly name: string | null;
  /** Ids of users. */
  readonly owners: readonly string[];
  /** The datasets and calculations that it uses, sorted. */
  readonly inputs: readonly Input[];
  /** The columns that its formula reads, sorted; empty if the formula's text is unknown. */
  readonly columns: readonly { readonly dataset: string; readonly column: string }[];
  /** The names of the runs from which it is known, separated by spaces; `at`: when the last of them began, ISO 8601. */
  readonly run: string;
  readonly at: string;
};

type Input = { readonly kind: 'dataset' | 'calculation'; readonly id: string };

/** What all entries share. */
type LineageContext = {
  /** The platform's host. */
  readonly host: string;
  readonly datasets: readonly string[];
  readonly owners: readonly { readonly id: string; readonly name: string | null }[];
};

/** The format of a catalog: the entries that come before all steps, and the entries for each step. */
type Catalog = {
  readonly before: (context: LineageContext) => Iterable<object>;
  readonly entries: (step: Step, context: LineageContext) => Iterable<object>;
  /** Whether the output is one JSON array instead of one entry on each line. */
  readonly isArray: boolean;
};
