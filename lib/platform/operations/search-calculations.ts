import * as z from 'zod/mini';
import { filledText, wholeNumber, yesOrNo } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { calculationRow, isNothing, nullAsEmpty, recordIn } from '../records.ts';

const filter = z.looseObject({
  field: filledText,
  /** The value that the field must have. To filter by a dataset, card or owner, use `idList` instead. */
  value: z.optional(z.string({ error: 'text' })),
  idList: z.optional(z.array(z.union([z.string(), z.int()], { error: 'an id' }), { error: 'a list of ids' })),
});
const sort = z.strictObject({ field: filledText, ascending: yesOrNo });

const body = z.strictObject({
  filters: z._default(z.array(filter), []),
  sort,
  limit: z._default(wholeNumber(1, 5000), 5000),
  name: z.optional(z.string({ error: 'text' })),
  offset: z.optional(wholeNumber(0, Number.MAX_SAFE_INTEGER)),
});
const input = z.strictObject({ body });

/** The member of a response that lists the calculations, and the field that identifies a calculation. */
const calculationRows = {
  member: 'results',
  keys: ['id'],
  keyIs: 'integer',
  members: calculationRow,
} as const;

const calculationsResponse = z.looseObject({
  results: z.nullish(z.array(recordIn(calculationRows))),
  totalHits: z.optional(z.unknown()),
  hasMore: z.optional(z.unknown()),
  degraded: z.optional(z.unknown()),
});

/** The body of a search. `limit` is 1 to 5000, by default 5000; `offset` is 0 or more; `sort` is the order. */
export type CalculationSearch = z.input<typeof body>;
/** A response of the search; only its rows are checked. */
export type CalculationsResponse = z.infer<typeof calculationsResponse>;

/** Searches calculations. `degraded` responses may lack rows; totals and `hasMore` may be wrong. */
export const searchCalculations = {
  name: 'searchCalculations',
  summary: 'Search calculations',
  method: 'POST',
  path: '/api/query/v1/functions/search',
  input,
  output: ({ body: { offset } }) =>
    z.pipe(
      nullAsEmpty,
      calculationsResponse.check(
        z.refine(
          (answer) =>
            answer.results ||
            isNothing(answer, {
              list: 'results',
              total: answer.totalHits,
              before: offset,
            }),
          {
            path: ['results'],
            error: 'a list, since the response has a total',
          },
        ),
      ),
    ),
  records: calculationRows,
  isResult: ({ results, totalHits }) => results !== undefined || totalHits !== undefined,
  mayRepeat: true,
  about: ({ body: { offset } }) => `calculations from ${offset ?? 0}`,
} satisfies Endpoint<z.infer<typeof input>, CalculationsResponse>;
