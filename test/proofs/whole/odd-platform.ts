import { parseJson, printJson } from '../../../lib/base/json/json.ts';
import { forms, oddResponse } from '../../../lib/sandbox/platform/http/faults.ts';
import { operations } from '../../../lib/sandbox/platform/operations/operations.ts';

/** The search whose responses are made odd. Its sort order determines which members keep their meaning. */
const REQUEST = { body: { sort: { field: 'id' } } };

/**
 * Responses in other legal shapes, as the sandbox generates them. `share` (0 to 1) is the probability that a
 * response is odd, and that a record is: a record has the same shape each time. Lists are never empty here.
 */
export function createOddPlatform(seed: number, share: number) {
  let number = 0;
  const drawn = (name: string, value: unknown, at: number): string => {
    const found = operations.find(({ endpoint }) => endpoint.name === name);
    if (found === undefined) throw new Error(`expected an operation of the sandbox, got ${name}`);
    const oddity = found.oddity(REQUEST);
    // The simulation compares versions of a record by this member.
    const decides = { ...oddity.decides, edit: forms.same };
    const { body } = oddResponse(printJson(value), { ...oddity, decides }, { seed, odd: share, number: at });
    return Buffer.from(body).toString();
  };
  return {
    /** The JSON of a response of an operation. */
    bodyOf(name: string, value: unknown): string {
      number += 1;
      return share === 0 ? printJson(value) : drawn(name, value, number);
    },
    /** The JSON of a calculation, the same on each page. */
    calculation(record: object): string {
      if (share === 0) return printJson(record);
      const page = drawn('searchCalculations', { results: [record], totalHits: 1 }, 0);
      return printJson((parseJson(page) as { readonly results: readonly unknown[] }).results[0]);
    },
  };
}

export type OddPlatform = ReturnType<typeof createOddPlatform>;
