import { MOST_ID_DIGITS } from '../../platform/index.ts';
import type { FoundRecords, RecordFailure } from './record-finder.ts';
import { scanObject } from './scan-response.ts';

/** A page of records, and what else it says. */
export type ScannedPage = {
  readonly found: FoundRecords;
  /** Another member of the page, parsed: integers beyond 2^53 are bigints. Undefined if there is none of that name. */
  readonly member: (name: string) => unknown;
};

export type PageShapeFailure =
  | { readonly kind: 'no-object' }
  | { readonly kind: 'no-array'; readonly member: string }
  | RecordFailure;

/** Valid JSON, but not a page of records. A position is that of a record in its page; 0 is the first. */
export class PageShapeError extends Error {
  override readonly name = 'PageShapeError';
  readonly failure: PageShapeFailure;
  constructor(failure: PageShapeFailure) {
    super(messageOf(failure));
    this.failure = failure;
  }
}

/** Far more than a page is asked for: 5,000. */
const MOST_RECORDS = 100_000;

type PageOptions = {
  /** The member of the page that is the array of its records. */
  readonly member: string;
  /** The top-level field that is a record's key: an integer, or the digits of one as text. */
  readonly keyField: string;
  /** Other fields whose places are needed. Default: none. */
  readonly others?: readonly string[];
};

/**
 * Finds the records of a page of calculations without parsing them (`scan-response.ts`). Throws `SyntaxError`, with the
 * byte, if the page is not valid JSON, and `PageShapeError` if it is not a page.
 */
export function scanPage(bytes: Buffer, { member, keyField, others = [] }: PageOptions): ScannedPage {
  const wanted = { key: keyField, keyIs: 'integer', others, most: MOST_RECORDS } as const;
  const scanned = scanObject(bytes, member, wanted);
  const { found, isObject } = scanned;
  if (!isObject) throw new PageShapeError({ kind: 'no-object' });
  if (found === undefined) throw new PageShapeError({ kind: 'no-array', member });
  if (found.failure !== undefined) throw new PageShapeError(found.failure);
  return { found, member: scanned.member };
}

function messageOf(failure: PageShapeFailure): string {
  switch (failure.kind) {
    case 'no-object':
      return 'expected an object with an array of records';
    case 'no-array':
      return `expected an array of records as ${JSON.stringify(failure.member)}`;
    case 'no-record':
      return `record ${failure.position}: expected an object`;
    case 'no-key':
      return `record ${failure.position}: expected an integer of at most ${MOST_ID_DIGITS} digits as its ${JSON.stringify(failure.keyField)}`;
    default:
      return failure satisfies never;
  }
}
