import * as z from 'zod/mini';
import { pathSegment } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { type Card, cardSchema } from '../records.ts';

const input = z.strictObject({
  path: z.strictObject({ datasetId: pathSegment }),
  query: z.optional(z.strictObject({ drill: z.optional(z.boolean({ error: 'true or false' })) })),
});

/** Lists the cards that use a dataset (contract 4.4): one array, no paging. `drill` is true by default. */
export const listCards: Endpoint<z.infer<typeof input>, readonly Card[]> = {
  name: 'listCards',
  summary: 'List cards that use a dataset',
  method: 'GET',
  path: '/api/content/v1/datasources/{datasetId}/cards',
  input,
  output: z.array(cardSchema),
  mayRepeat: true,
  about: ({ path }) => `cards of dataset ${path.datasetId}`,
};
