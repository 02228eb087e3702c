import { brotliCompressSync, deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { printJson } from '../../lib/base/json/json.ts';
import { clientAt } from '../platform/client-at.ts';
import { calculationRow, calculations } from '../platform/sample-records.ts';
import { bytes, json, type Reply, rawBytes, startServer } from '../platform/scripted-server.ts';

/* Unusual responses that are accepted. Rejected ones are cases of the command line. */

const sort = { field: 'id', ascending: true };
const inJson = { 'content-type': 'application/json' };
const good = printJson(calculations(calculationRow()));
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n';
const encoded = (body: Uint8Array, encoding: string) =>
  bytes(body, { ...inJson, 'content-encoding': encoding });

describe('a response is read as usual', () => {
  test.for<readonly [string, Reply]>([
    ['after 100', rawBytes(`HTTP/1.1 100 Continue\r\n\r\n${OK}${good}`)],
    ['after 103', rawBytes(`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${OK}${good}`)],
    ['with a byte order mark', bytes(`\uFEFF${good}`, inJson)],
    ['in deflate, though not asked for', encoded(deflateSync(good), 'deflate')],
    ['in Brotli, though not asked for', encoded(brotliCompressSync(good), 'br')],
    [
      'with an escaped NUL in a name',
      bytes(good.replace('"results"', String.raw`"a\u0000":1,"results"`), inJson),
    ],
    ['with the same name twice', bytes(good.replace('"results"', '"results":7,"results"'), inJson)],
  ])('%s', async ([, reply]) => {
    await using server = await startServer(reply);

    const response = await clientAt(server.url).calculations.search({ sort });

    expect(response.rows).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });

  test('if it is an empty object, which counts as no rows', async () => {
    await using server = await startServer(json({}));

    expect(await clientAt(server.url).calculations.search({ sort })).toMatchObject({ rows: [] });
  });
});
