import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { anyRecord, own, recordOf } from '../../../lib/base/inputs.ts';
import { parseMessage } from '../../../lib/jobs/message/message.ts';
import { parseStaged, printStaged } from '../../../lib/jobs/texts/batch/chunk-objects.ts';
import { refusals } from '../../../lib/snapshot/publish/gates.ts';
import { readRows } from '../../jobs/texts/bytes-of.ts';
import { publishedManifest } from '../../snapshot/published-manifest.ts';

/* Names of members that every JavaScript object has, used as names of fields, columns and variables from outside. */

const names = Object.getOwnPropertyNames(Object.prototype);

test.each(names)('%s is not a member of an object that does not define it', (name) => {
  expect(own({ a: 1 }, name)).toBeUndefined();
  expect(own(Object.fromEntries([[name, 1]]), name)).toBe(1);
});

test.each(names)('a schema keeps a member called %s', (name) => {
  const given = JSON.parse(`{"${name}":"x"}`);

  expect(Object.entries(anyRecord().parse(given))).toEqual([[name, 'x']]);
  expect(Object.entries(recordOf(z.string()).parse(given))).toEqual([[name, 'x']]);
  expect(recordOf(z.number()).safeParse(given).success).toBe(false);
});

test.each(names)('a run may have a field called %s that the previous run did not have', (name) => {
  const fields = Object.fromEntries([[name, ['string']]]);
  const last = publishedManifest({ records: 100, fields: {} });
  const run = { ...last, fields, scanRefused: [] };

  expect(refusals(run, last, NOW)).toEqual([]);
  expect(refusals(run, { ...last, fields: Object.fromEntries([[name, ['number']]]) }, NOW)).toEqual(['type']);
});

const NOW = { isBroken: false, nowMs: Date.now(), minShare: 0.5 };

test.each(names)('a function may have an input variable called %s', (name) => {
  const message = `{"version":1,"type":"run-function","packageId":"0f8fad5b-d9cb-469f-a165-70867728950e","packageVersion":"1","functionName":"f","inputVariables":{"${name}":[1]}}`;

  const parsed = parseMessage(message, { messageId: 'm', allow: {} });

  if (parsed.kind !== 'job' || parsed.job.type !== 'run-function') throw new Error(JSON.stringify(parsed));
  expect(JSON.stringify(parsed.job.inputVariables)).toBe(`{"${name}":[1]}`);
});

test.each(names)(
  'a message with an unknown field called %s is refused, and the error names the field',
  (name) => {
    const message = `{"version":1,"type":"data-files","ids":[1],"${name}":1}`;

    expect(parseMessage(message, { messageId: 'm', allow: {} })).toMatchObject({
      kind: 'refused',
      faults: [`${name}: not a known name`],
    });
  },
);

test.each(names)('a type called %s is unknown', (type) => {
  expect(parseMessage(JSON.stringify({ version: 1, type }), { messageId: 'm', allow: {} })).toMatchObject({
    kind: 'refused',
    faults: [expect.stringContaining('type: expected ')],
  });
});

test.each(names)('a column called %s is copied to the results', async (name) => {
  async function* bytes() {
    yield Buffer.from(`text,${name}\nfine,x\n`);
  }

  const [row] = await Array.fromAsync(readRows(bytes(), { text: 'text', columns: [name] }));

  if (row === undefined || 'fault' in row) throw new Error(JSON.stringify(row));
  const staged = printStaged({ version: 1, host: 'h', request: {}, rows: [row] });
  expect(JSON.stringify(parseStaged('key', staged.body).rows)).toContain(`"${name}":"x"`);
});
