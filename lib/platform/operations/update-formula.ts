import * as z from 'zod/mini';
import { filledText, yesOrNo } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { aboutRecord, anyAnswer, type Calculation, calculation, type Id, idSchema } from '../records.ts';

const input = z.strictObject({
  path: z.strictObject({ calculationId: idSchema }),
  query: z.optional(z.strictObject({ strict: z.optional(yesOrNo) })),
  body: z.strictObject({ expression: filledText }),
});

/** Schema of the response to an update: any JSON, unless it has the id of another calculation. */
const updatedCalculation = (id: Id) => aboutRecord<'id', typeof calculation>(anyAnswer, 'id', id);

/** Whether the platform stored a formula that it cannot parse. */
export const isInvalidFormula = ({ status }: Pick<Calculation, 'status'>): boolean =>
  typeof status === 'string' && status.trim().toUpperCase() === 'INVALID';

/**
 * Sets a calculation's formula and returns the calculation as the platform reports it. Any 2xx means
 * that it is set, whatever the body. A late repeat would undo a newer formula, so it is never sent twice.
 */
export const updateFormula: Endpoint<z.infer<typeof input>, Calculation> = {
  name: 'updateFormula',
  summary: "Update a calculation's formula",
  method: 'POST',
  otherMethod: 'PUT',
  path: '/api/query/v1/functions/template/{calculationId}',
  input,
  output: ({ path }) => updatedCalculation(path.calculationId),
  records: { members: calculation },
  isResult: ({ id, expression }) => id !== undefined || expression !== undefined,
  otherBody: 'any',
  mayRepeat: false,
  about: ({ path }) => `calculation ${path.calculationId}`,
};
