import * as z from 'zod/mini';
import { filledText } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { idSchema } from '../id.ts';
import { type Calculation, calculationSchema } from '../records.ts';

const input = z.strictObject({
  path: z.strictObject({ calculationId: idSchema }),
  query: z.optional(z.strictObject({ strict: z.optional(z.boolean({ error: 'true or false' })) })),
  body: z.strictObject({ expression: filledText }),
});

/**
 * Sets a calculation's formula (contract 4.1) and returns the complete calculation. A late repeat would undo a newer
 * formula by someone else, so it is never sent twice.
 */
export const updateFormula: Endpoint<z.infer<typeof input>, Calculation> = {
  name: 'updateFormula',
  summary: "Update a calculation's formula",
  method: 'POST',
  path: '/api/query/v1/functions/template/{calculationId}',
  input,
  output: calculationSchema,
  mayRepeat: false,
  about: ({ path }) => `calculation ${path.calculationId}`,
};
