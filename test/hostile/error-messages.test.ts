import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { AwsError } from '../../lib/base/aws/fault.ts';
import { printPart, scoredRow } from '../../lib/jobs/texts/batch/chunk-objects.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { StoreError } from '../../lib/store/error.ts';
import { StoredObjectError } from '../../lib/store/stored-json.ts';
import { TableError } from '../../lib/table/table-error.ts';

/* Tests texts of a million characters wherever an error quotes outside data. */

const LONG = 'x'.repeat(1_000_000);
const cause = Object.assign(new Error(LONG), { $metadata: { httpStatusCode: 400 } });
const context = { operation: 'searchFiles', about: 'files', attempts: 1 };

test.for<readonly [string, Error]>([
  ['an input', new PlatformError({ kind: 'input', faults: [LONG, LONG] }, context)],
  [
    'what a call is about',
    new PlatformError({ kind: 'too-large', maxBytes: 1 }, { ...context, about: LONG }),
  ],
  ['the detail of a status', new PlatformError({ kind: 'status', status: 400, detail: LONG }, context)],
  ['the shape of a response', new PlatformError({ kind: 'shape', faults: [LONG] }, context)],
  ['a store', new StoreError(`get ${LONG}`, { kind: 'other', code: LONG }, { cause })],
  ['a table', new TableError(`get ${LONG}`, { kind: 'other', code: LONG }, { cause })],
  ['a service of AWS', new AwsError('queue', `send ${LONG}`, cause)],
  ['a stored object', new StoredObjectError('invalid', `${LONG}: expected something else`)],
])('the message of an error about %s has at most 4,001 characters', ([, { message }]) => {
  expect(message).toMatch(/^.{100,4000}…$/);
});

test('the error that a row of scores has is at most 4,001 characters long', () => {
  const row = { line: 1, id: 'a', text: 'fine', columns: {} };

  const { body } = printPart({ batch: 'b', chunk: 0 }, [scoredRow(row, { error: LONG })]);

  expect(JSON.parse(gunzipSync(body).toString()).error).toMatch(/^x{4000}…$/);
});
