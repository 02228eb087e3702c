import * as z from 'zod/mini';
import { yesOrNo } from '../../base/index.ts';
import { type Endpoint, pathSegment } from '../endpoint.ts';
import { type Card, card, recordIn } from '../records.ts';

const input = z.strictObject({
  path: z.strictObject({ datasetId: pathSegment }),
  query: z.optional(z.strictObject({ drill: z.optional(yesOrNo) })),
});

/** The fields that may identify a card; the response is the list. */
const cards = { keys: ['id', 'urn', 'kpiId'], keyIs: 'integer', members: card } as const;

const cardList: z.ZodMiniType<readonly Card[], unknown> = z.pipe(
  z.transform((given: unknown) => given ?? []),
  z.array(recordIn(cards)),
);

/** Lists the cards that use a dataset: one array, no paging. `drill` is true by default. */
export const listCards = {
  name: 'listCards',
  summary: 'List cards that use a dataset',
  method: 'GET',
  path: '/api/content/v1/datasources/{datasetId}/cards',
  input,
  output: () => cardList,
  records: cards,
  isResult: () => false,
  mayRepeat: true,
  about: ({ path }) => `cards of dataset ${path.datasetId}`,
} satisfies Endpoint<z.infer<typeof input>, readonly Card[]>;
