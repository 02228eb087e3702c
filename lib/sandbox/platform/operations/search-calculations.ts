import { searchCalculations } from '../../../platform/operations/search-calculations.ts';
import type { CalculationSearch } from '../calculations/calculation-search.ts';
import { anomalyFor } from '../http/faults.ts';
import { eachOf, forms, membersOf } from '../http/odd-answers.ts';
import { drawFor, randomFor } from '../records/random.ts';
import { type OperationContext, ok, operation, type RawInput, refused } from './operation.ts';

/** Contract 4.2. Without `sort` it returns no rows and no error, as in practice. */
export const searchCalculationsOperation = operation(
  searchCalculations,
  ({ body }, context, raw) => {
    const { options } = context;
    const missing = ['filters', 'limit'].filter((name) => memberOf(raw.body, name) === undefined);
    if (missing.length > 0) return refused(400, `${missing.join(' and ')} must be given`);
    if (!hasSort(raw)) return ok(pageBytes({ totalHits: 0, rows: [], hasMore: false, degraded: false }));
    if (options.refusedSortFields.includes(body.sort.field)) {
      return refused(400, `cannot sort by ${body.sort.field}`);
    }
    const offset = body.offset ?? 0;
    const limit = Math.min(body.limit, options.pageCap ?? body.limit);
    const page = flawedPage({ ...body, name: body.name ?? '', offset, limit }, context);
    if (page.kind === 'refused') return refused(400, page.message);
    const { rows, degraded } = served(page.sequences, context);
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
        // Whoever asks for a calculation by its name wants to know whether it was changed.
        ...(memberOf(body, 'name') ? { name: forms.same, lastModified: forms.time } : {}),
        id: forms.id,
        // Which cards are fetched follows from the links.
        links: eachOf(
          membersOf({ resource: membersOf({ type: forms.lowered, id: forms.same }), valid: forms.lowered }),
        ),
      },
      beside: { totalHits: forms.count, degraded: forms.no },
    }),
  },
);

function flawedPage(
  query: Parameters<CalculationSearch>[0],
  { state, options, number }: OperationContext,
): ReturnType<CalculationSearch> {
  const vanishes = anomalyFor(state.seed, options, number) === 'vanish';
  if (options.lagMs === 0 && !vanishes) return state.searchCalculations(query);
  const hidden = state.calculations.addedAfter(
    options.lagMs === 0 ? Number.POSITIVE_INFINITY : state.now() - options.lagMs,
  );
  const page = state.searchCalculations({ ...query, hidden });
  if (!vanishes || page.kind === 'refused' || page.sequences.length === 0) return page;
  const vanished = randomFor(state.seed, 'anomaly of a page', number).pick(page.sequences);
  return state.searchCalculations({ ...query, hidden: new Set([...hidden, vanished]) });
}

type Page = {
  readonly totalHits: number;
  readonly rows: readonly Uint8Array[];
  readonly hasMore: boolean;
  readonly degraded: boolean;
};

function pageBytes({ totalHits, rows, hasMore, degraded }: Page): Uint8Array<ArrayBuffer> {
  const separated = rows.flatMap((row, index) => (index === 0 ? [row] : [COMMA, row]));
  const head = Buffer.from(`{"totalHits":${totalHits},"results":[`);
  return Buffer.concat([head, ...separated, Buffer.from(`],"hasMore":${hasMore},"degraded":${degraded}}`)]);
}

const COMMA = Buffer.from(',');

/** The rows of a page; a degraded one lacks about one in ten, and at least one. */
function served(sequences: readonly number[], { options, state, number }: OperationContext) {
  const random = randomFor(state.seed, 'page', number);
  const ordered = options.ignoreOrder ? shuffled(sequences, () => random.next()) : sequences;
  const degraded = drawFor(state.seed, 'degraded', number) < options.degraded;
  const left = degraded
    ? ordered.filter(() => !random.chance(0.1)).slice(0, Math.max(0, ordered.length - 1))
    : ordered;
  return { degraded, rows: left.map((sequence) => state.calculations.row(sequence)) };
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

/** Adds a sort so that the rest of the body can be checked. */
function withSort(body: unknown): unknown {
  return typeof body === 'object' && body !== null
    ? { ...body, sort: { field: 'id', ascending: true } }
    : body;
}
