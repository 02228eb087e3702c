import type * as z from 'zod/mini';
import { printJson } from '../../../base/json/index.ts';
import {
  analyzeSentiment,
  type endpoints,
  getDataFile,
  listCards,
  runFunction,
  searchCalculations,
  searchFiles,
  updateFormula,
} from '../../../platform/operations/index.ts';
import { assumptions } from '../assumptions.ts';
import type { CalculationSearch } from '../calculations/calculation-search.ts';
import { updateFormula as update } from '../calculations/formulas.ts';
import type { SearchFiles } from '../files/file-search.ts';
import type { FileSet } from '../files/file-set.ts';
import { type Form, forms, kindFor, membersOf } from '../http/faults.ts';
import { drawFor, type Random, randomFor } from '../records/random.ts';
import { analyzeSentiment as analyze, countUsage } from '../sentiment/analyze.ts';
import { type Operation, type OperationContext, ok, operation, type RawInput, refused } from './operation.ts';

/** Identifies a card by `id`, `urn` or `kpiId`. */
const oddCard: Form = (card, random) => {
  const { id, urn, ...rest } = card as Readonly<Record<string, unknown>>;
  const identities = [{ id: String(id), urn }, { urn }, { kpiId: id, urn: null }, { id, urn: 7 }];
  // A drill keeps its urn, since that refers to the drill's root card.
  return {
    ...(String(urn).startsWith('dr:') ? random.pick([{ id, urn }, { urn }]) : random.pick(identities)),
    ...rest,
  };
};

/** The form of a list: `form` is applied to each of its items. */
const eachOf =
  (form: Form): Form =>
  (value, random) =>
    (value as readonly unknown[]).map((each) => form(each, random));

const listCardsOperation = operation(
  listCards,
  ({ path, query }, { state }) => {
    const datasetIndex = state.datasets.findIndex(({ id }) => id === path.datasetId.toLowerCase());
    if (datasetIndex < 0) {
      const isArchived = state.goneDatasets.get(path.datasetId.toLowerCase()) === 410;
      return isArchived
        ? refused(410, `dataset ${path.datasetId} is archived`)
        : refused(404, `there is no dataset ${path.datasetId}`);
    }
    return ok(JSON.stringify(state.cards.listed(datasetIndex, query?.drill ?? true)));
  },
  {
    oddity: {
      list: '',
      rename: oddCard,
      decides: { id: forms.same, urn: forms.same, kpiId: forms.same, drills: eachOf(oddCard) },
    },
  },
);

/** Reads a data file's metadata. Unknown names in `expand` are ignored. */
const getDataFileOperation = operation(
  getDataFile,
  ({ path, query }, { state }) => {
    const file = state.dataFile(path.dataFileId);
    if (file === undefined) return refused(404, `there is no data file ${path.dataFileId}`);
    const expanded = (query?.expand ?? '').split(',').map((name) => name.trim().toLowerCase());
    const { dataFileId, name, responsibleUserId, datetimeCreated, revisions, existing } = file;
    return ok(
      JSON.stringify({
        dataFileId,
        name,
        responsibleUserId,
        ...(expanded.includes(assumptions.currentRevisionExpansion)
          ? { currentRevision: revisions.at(-1) }
          : {}),
        datetimeCreated,
        ...(expanded.includes(assumptions.revisionsExpansion) ? { revisions } : {}),
        existing,
      }),
    );
  },
  { oddity: { decides: { dataFileId: forms.requestedId } } },
);

/** Sets a formula. According to the platform's documentation, PUT is allowed too. */
const updateFormulaOperation = operation(
  updateFormula,
  ({ path, query, body }, { state, counter }) => {
    const updated = update(state.calculations, state.formulas, {
      id: path.calculationId,
      expression: body.expression,
      strict: query?.strict ?? false,
    });
    switch (updated.kind) {
      case 'not-found':
        return refused(404, `there is no calculation ${path.calculationId}`);
      case 'refused':
        return refused(400, updated.message);
      case 'updated':
        counter.updatedFormula(path.calculationId);
        return ok(updated.record);
      default:
        return updated satisfies never;
    }
  },
  { otherMethods: ['PUT'], oddity: { decides: { id: forms.requestedId, status: forms.validity } } },
);

/**
 * Runs a code function. The response is 200 even if the function failed: only its `status` shows that.
 */
const runFunctionOperation = operation(
  runFunction,
  async ({ path, body }, { counter, runCodeFunction }) => {
    const inputVariables = body.inputVariables ?? {};
    const getLogs = body.settings?.getLogs;
    const run = await runCodeFunction({
      ...path,
      inputVariables,
      settings: { getLogs },
      startedBy: assumptions.tokenOwner,
    });
    switch (run.kind) {
      case 'not-found':
        return refused(404, run.message);
      case 'bad-input':
        return refused(400, run.message);
      case 'executed': {
        const { executionId, packageId, version, functionName, status } = run.execution;
        counter.executed({ executionId, packageId, version, functionName, inputVariables, status });
        return ok(printJson({ ...run.execution, errorInformation: run.execution.errorInformation ?? null }));
      }
      default:
        return run satisfies never;
    }
  },
  {
    errors: { usual: 'MessageError', forbidden: 'MessageError' },
    oddity: { decides: { status: forms.word, result: forms.same } },
  },
);

/** Searches calculations. Without `sort` it returns no rows and no error, as in practice. */
const searchCalculationsOperation = operation(
  searchCalculations,
  ({ body }, context, raw) => {
    const { options } = context;
    const missing = ['filters', 'limit'].filter((name) => memberOf(raw.body, name) === undefined);
    if (missing.length > 0) return refused(400, `${missing.join(' and ')} required`);
    if (!hasSort(raw)) return ok(pageBytes({ totalHits: 0, rows: [], hasMore: false, degraded: false }));
    if (options.refusedSortFields.includes(body.sort.field)) {
      return refused(400, `cannot sort by ${body.sort.field}`);
    }
    const offset = body.offset ?? 0;
    const limit = Math.min(body.limit, options.pageCap ?? body.limit);
    const page = calculationPage({ ...body, name: body.name ?? '', offset, limit }, context);
    if (page.kind === 'refused') return refused(400, page.message);
    const { rows, degraded } = pageRows(page.sequences, context);
    const hasMore =
      rows.length === 0 && options.hasMoreWhenEmpty ? true : offset + page.sequences.length < page.totalHits;
    return ok(pageBytes({ totalHits: page.totalHits, rows, hasMore, degraded }));
  },
  {
    tolerate: (raw) => (hasSort(raw) ? raw : { ...raw, body: withSort(raw.body) }),
    oddity: ({ body }) => ({
      list: 'results',
      decides: {
        [String(Object(memberOf(body, 'sort')).field)]: forms.time,
        // Clients search by name to find out whether a calculation was changed.
        ...(memberOf(body, 'name') ? { name: forms.same, lastModified: forms.time } : {}),
        id: forms.id,
        // The links decide which cards are fetched.
        links: eachOf(
          membersOf({ resource: membersOf({ type: forms.lowered, id: forms.same }), valid: forms.lowered }),
        ),
      },
      outsideList: { totalHits: forms.count, degraded: forms.no },
    }),
  },
);

const searchFilesOperation = operation(
  searchFiles,
  ({ path, query, body }, context) => {
    const { state } = context;
    const search = state.searchFiles(path.filesetId);
    if (search === undefined) return refused(404, `there is no FileSet ${path.filesetId}`);
    const limit = query?.limit ?? assumptions.defaultFileLimit;
    if (limit > assumptions.maxFileLimit) {
      return refused(
        400,
        `limit: expected a whole number from 1 to ${assumptions.maxFileLimit}, got ${limit}`,
      );
    }
    const page = filePage(search, { ...query, ...body, limit }, path.filesetId, context);
    if (page.kind === 'refused') return refused(400, page.message);
    const { rows, next, offset, total } = page;
    return ok(JSON.stringify({ files: rows, pageContext: { next, offset, limit, total } }));
  },
  {
    errors: { usual: 'PlatformError', forbidden: 'TextError' },
    oddity: ({ body }) => ({
      list: 'files',
      decides: { id: forms.same, ...sortFieldForms(body) },
      outsideList: { pageContext: membersOf({ next: forms.same, total: forms.count }) },
    }),
  },
);

/** Scores a text: by topic if topics are given, otherwise as a whole. Only TEXT messages are read. */
const analyzeSentimentOperation = operation(
  analyzeSentiment,
  async ({ body }, { state, counter, number }) => {
    const texts = body.input.flatMap(({ type, text }) =>
      type.toUpperCase() === 'TEXT' && text !== undefined ? [text] : [],
    );
    if (texts.length === 0)
      return refused(400, 'input: expected at least one message of type TEXT with a text');
    const text = texts.join('\n');
    const analysis = await analyze({ text, topics: body.topics });
    counter.analyzedSentiment(text);
    const model = body.model ?? assumptions.sentimentModel;
    const isCustomerModel = model !== assumptions.sentimentModel;
    const ids = randomFor(state.seed, 'sentiment', number);
    const verdict =
      analysis.kind === 'targeted'
        ? { type: 'TARGETED', topicSentiments: analysis.topicSentiments }
        : { type: 'DEFAULT', sentiment: analysis.sentiment };
    return ok(
      JSON.stringify({
        ...verdict,
        model,
        isCustomerModel,
        sessionId: body.sessionId ?? ids.uuid(),
        requestId: ids.uuid(),
        modelProviderUsage: isCustomerModel
          ? null
          : countUsage({ texts, topics: body.topics, instructions: body.instructions }),
      }),
    );
  },
  {
    tolerate: withoutNullTopics,
    errors: { usual: 'PlatformError', forbidden: 'TextError' },
    oddity: { decides: { topicSentiments: oddTopics, sentiment: forms.lowered } },
  },
);

const operationsByName = {
  searchCalculations: searchCalculationsOperation,
  updateFormula: updateFormulaOperation,
  searchFiles: searchFilesOperation,
  listCards: listCardsOperation,
  runFunction: runFunctionOperation,
  analyzeSentiment: analyzeSentimentOperation,
  getDataFile: getDataFileOperation,
} as const satisfies {
  readonly [Name in keyof typeof endpoints]: Operation<z.infer<(typeof endpoints)[Name]['input']>>;
};

/** The operations that the sandbox serves: all that platform-sync calls. */
export const operations: readonly Operation[] = Object.values(operationsByName);

/** A topic that the text does not mention may have no value, or be absent. */
function oddTopics(value: unknown, random: Random) {
  const topics = Object.entries(value as Readonly<Record<string, string>>).map(([topic, sentiment]) => [
    topic,
    sentiment.toUpperCase() === 'NOT_APPLICABLE'
      ? random.pick([sentiment, null, undefined])
      : random.pick([sentiment, sentiment.toLowerCase()]),
  ]);
  return Object.fromEntries(topics);
}

function withoutNullTopics(raw: RawInput): RawInput {
  if (typeof raw.body !== 'object' || raw.body === null || Reflect.get(raw.body, 'topics') !== null)
    return raw;
  return { ...raw, body: Object.fromEntries(Object.entries(raw.body).filter(([name]) => name !== 'topics')) };
}

const anomalyFor = ({ state: { seed }, options, number }: OperationContext) =>
  kindFor(
    'anomaly',
    { seed, number },
    { share: options.anomalies, kinds: options.anomalyKinds, planned: options.plannedAnomalies },
  );

/** A page of calculations, after the lag and the anomaly of this request. */
function calculationPage(
  query: Parameters<CalculationSearch>[0],
  context: OperationContext,
): ReturnType<CalculationSearch> {
  const { state, options, number } = context;
  const vanishes = anomalyFor(context) === 'vanish';
  if (options.lagMs === 0 && !vanishes) return state.searchCalculations(query);
  const hidden = state.calculations.addedAfter(
    options.lagMs === 0 ? Number.POSITIVE_INFINITY : state.now() - options.lagMs,
  );
  const page = state.searchCalculations({ ...query, hidden });
  if (!vanishes || page.kind === 'refused' || page.sequences.length === 0) return page;
  const vanished = randomFor(state.seed, 'anomaly of a page', number).pick(page.sequences);
  return state.searchCalculations({ ...query, hidden: new Set([...hidden, vanished]) });
}

function pageBytes({
  totalHits,
  rows,
  hasMore,
  degraded,
}: {
  readonly totalHits: number;
  readonly rows: readonly Uint8Array[];
  readonly hasMore: boolean;
  readonly degraded: boolean;
}): Uint8Array<ArrayBuffer> {
  const separated = rows.flatMap((row, index) => (index === 0 ? [row] : [COMMA, row]));
  const head = Buffer.from(`{"totalHits":${totalHits},"results":[`);
  return Buffer.concat([head, ...separated, Buffer.from(`],"hasMore":${hasMore},"degraded":${degraded}}`)]);
}

const COMMA = Buffer.from(',');

/** The rows of a page; a degraded page lacks about one row in ten, and at least one row. */
function pageRows(sequences: readonly number[], { options, state, number }: OperationContext) {
  const random = randomFor(state.seed, 'page', number);
  const ordered = options.ignoreOrder ? shuffled(sequences, () => random.next()) : sequences;
  const degraded = drawFor(state.seed, 'degraded', number) < options.degraded;
  const remaining = degraded
    ? ordered.filter(() => !random.chance(0.1)).slice(0, Math.max(0, ordered.length - 1))
    : ordered;
  return { degraded, rows: remaining.map((sequence) => state.calculations.row(sequence)) };
}

function shuffled(sequences: readonly number[], next: () => number): readonly number[] {
  const mixed = [...sequences];
  for (let end = mixed.length - 1; end > 0; end -= 1) {
    const other = Math.floor(next() * (end + 1));
    [mixed[end], mixed[other]] = [mixed[other] ?? 0, mixed[end] ?? 0];
  }
  return mixed;
}

function memberOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? (Reflect.get(body, name) ?? undefined) : undefined;
}

function hasSort({ body }: RawInput): boolean {
  return memberOf(body, 'sort') !== undefined;
}

/** Adds a sort to a body without one, so that the rest of the body can be checked. */
function withSort(body: unknown): unknown {
  return typeof body === 'object' && body !== null
    ? { ...body, sort: { field: 'id', ascending: true } }
    : body;
}

/** The forms of the sort fields: they keep their values, since cursors depend on them. */
function sortFieldForms(body: unknown): Readonly<Record<string, Form>> {
  const fields: unknown = Object(body).fieldSort;
  return Object.fromEntries(
    (Array.isArray(fields) ? fields : []).map(({ field }) => [String(field), forms.same]),
  );
}

/** A page of files, after the lag and the anomaly of this request. */
function filePage(
  search: SearchFiles,
  query: Parameters<SearchFiles>[0],
  fileSetId: string,
  context: OperationContext,
): ReturnType<SearchFiles> {
  const { state, options, number } = context;
  const anomaly = anomalyFor(context);
  const random = randomFor(state.seed, 'anomaly of a page', number);
  const fileSet = state.fileSets.find(({ id }) => id === fileSetId.toLowerCase());
  if (anomaly === 'rename' && fileSet !== undefined) renameOne(fileSet, random);
  const recent = options.lagMs === 0 ? undefined : fileSet?.addedAfter(state.now() - options.lagMs);
  const flaws = { hidden: recent ?? new Set<string>(), anomaly, nonce: number };
  const page = search(query, flaws);
  if (anomaly !== 'vanish' || page.kind === 'refused' || page.rows.length === 0) return page;
  return search(query, { ...flaws, hidden: new Set([...flaws.hidden, random.pick(page.rows).id]) });
}

/** First characters of new names, in all parts of the sort order: a renamed file can move to any page. */
const FIRST_CHARACTERS = [...'0ADGJMPSVYadgjmpsvy'];

function renameOne(fileSet: FileSet, random: Random): void {
  const rows = fileSet.rows();
  const row = rows[random.below(rows.length)];
  if (row === undefined) return;
  const name = `${random.pick(FIRST_CHARACTERS)}-${random.hex(12)}`;
  fileSet.change(row.id, { name, path: `/${name}` });
}
