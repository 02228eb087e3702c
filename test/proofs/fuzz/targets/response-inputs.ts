import fc from 'fast-check';
import * as z from 'zod/mini';
import type { Endpoint, EndpointInput } from '../../../../lib/platform/endpoint.ts';
import { endpoints } from '../../../../lib/platform/operations/index.ts';
import * as records from '../../../platform/sample-records.ts';

/** The token that the client sends and that no error may show. */
export const TOKEN = 'fuzz-developer-token-7c1e';

/** An integer that a double cannot hold exactly. */
const LONG_ID = '12345678901234567890';
export const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';

type Operation = {
  readonly endpoint: Endpoint<EndpointInput, unknown>;
  readonly input: EndpointInput;
  readonly sample: unknown;
};

const operation = <Input extends EndpointInput>(
  endpoint: Endpoint<Input, unknown>,
  input: EndpointInput,
  sample: unknown,
): Operation => ({
  // The cast is safe: the endpoint's schema checks the input before `about` reads it.
  endpoint: endpoint as unknown as Operation['endpoint'],
  input,
  sample,
});

/** Each operation, with an input and a response that it accepts. */
export const OPERATIONS = {
  updateFormula: operation(
    endpoints.updateFormula,
    { path: { calculationId: 17 }, body: { expression: '1' } },
    records.calculation({ owner: LONG_ID }),
  ),
  searchCalculations: operation(
    endpoints.searchCalculations,
    { body: { sort: { field: 'id', ascending: true } } },
    records.calculations(records.calculationRow(), records.calculationRow({ id: 18, owner: LONG_ID })),
  ),
  searchFiles: operation(
    endpoints.searchFiles,
    { path: { filesetId: UUID }, body: {} },
    records.files('next', records.file()),
  ),
  listCards: operation(endpoints.listCards, { path: { datasetId: UUID } }, [
    records.card(),
    records.card({ id: 32 }),
  ]),
  runFunction: operation(
    endpoints.runFunction,
    { path: { packageId: UUID, version: '1.0.0', functionName: 'greet' }, body: {} },
    records.execution(),
  ),
  analyzeSentiment: operation(
    endpoints.analyzeSentiment,
    { body: { input: [{ type: 'TEXT', text: 'fine' }] } },
    records.sentiment(),
  ),
  getDataFile: operation(
    endpoints.getDataFile,
    { path: { dataFileId: 12 } },
    records.dataFile({ revisions: [records.revision()] }),
  ),
} as const satisfies Record<keyof typeof endpoints, Operation>;

const names = Object.keys(OPERATIONS) as readonly (keyof typeof OPERATIONS)[];

/** Pieces of JSON, HTTP and UTF-8 that parsers disagree about. */
export const TOKENS = [
  ...'{ } [ ] , : " \\ \\u0000 \\ud800 null NaN 1e400 -0 01 1. "id": "id":"x", "__proto__":{"a":1},'.split(
    ' ',
  ),
  ...'"constructor":1, "toString": ;ext=1 <html><title>Login 12345678901234567890'.split(' '),
  ...['\0', '\x0b', '\xff', '\xc0\x80', '\xef\xbb\xbf', '\xed\xa0\x80', '\xe2\x80\xa8', '\r\n', '\r\n\r\n'],
  ...['9'.repeat(25), '9'.repeat(1_200), '['.repeat(600), TOKEN, '0\r\n\r\n', 'fffffffff\r\n', 'x: \0'],
  ...['content-length: 5\r\n', 'transfer-encoding: chunked\r\n', 'content-encoding: constructor\r\n'],
  ...['connection: close\r\n', 'HTTP/1.1 200 OK\r\n'],
];

/** One response on the wire, and how it is read. Bytes are texts with one character per byte. */
export const wireSchema = z.object({
  operation: z.enum(names as [keyof typeof OPERATIONS, ...(keyof typeof OPERATIONS)[]]),
  status: z.string(),
  /** Complete header lines, without their line ends. */
  headers: z.array(z.string()),
  /** The body before it is encoded. */
  body: z.string(),
  encoding: z.enum(['identity', 'gzip', 'deflate', 'br', 'zstd', 'gzip twice', 'gzip, not said']),
  framing: z.enum(['length', 'chunked', 'close']),
  /** Damage: `removed` bytes are replaced by `bytes` at the relative position `at` (0 to 1) of the finished bytes. */
  damage: z.array(z.object({ at: z.number(), bytes: z.string(), removed: z.number() })),
  pieceBytes: z.number(),
  ending: z.enum(['end', 'reset']),
  /** How the response is read: by the endpoint's schema, as text, or as records found in its bytes. */
  as: z.enum(['value', 'text', 'records']),
  /** Whether another call follows. */
  next: z.boolean(),
});
export type WireInput = z.infer<typeof wireSchema>;

/** JSON in UTF-8, one character per byte, with the long id as a number. */
const latin1 = (value: unknown, indent = ''): string =>
  Buffer.from(JSON.stringify(value, null, indent).replaceAll(`"${LONG_ID}"`, LONG_ID)).toString('latin1');

/** A sample in which one value is replaced by any JSON. */
const changed = (sample: unknown) =>
  fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.nat({ max: 40 })).map(([value, at]) => {
    let left = at;
    return latin1(JSON.parse(JSON.stringify(sample), (_name, each) => (left-- === 0 ? value : each)));
  });

/** Ids in every form, and values that are not ids; equal ones are frequent. */
const id = fc.constantFrom<unknown>(
  ...[5, '5', '05', -5, 12, '12', LONG_ID, 1.5, 1e30, '', 'é"', null, true, [5]],
);

const record = fc.record(
  {
    id,
    dataFileId: id,
    datasourceId: fc.constantFrom(UUID, 'd', null, 7),
    created: fc.constantFrom<unknown>('2026-11-22T09:00:00Z', 1, null, {}),
    _datasetId: fc.constantFrom('own', 1),
    created2: fc.constantFrom<unknown>(1, 'a', null),
  },
  { requiredKeys: ['id'] },
);
const page = fc.record(
  {
    files: fc.oneof(fc.array(record, { maxLength: 5 }), fc.constantFrom(null, {}, 'x')),
    pageContext: fc.record({ next: fc.constantFrom('n', '', null, 5), total: fc.constantFrom(3, '3', null) }),
  },
  { requiredKeys: [] },
);

/** For operations whose records are found in bytes: many records with few fields, in any layout. */
const recordsOf: { readonly [Name in keyof typeof OPERATIONS]?: fc.Arbitrary<unknown> } = {
  listCards: fc.array(record, { maxLength: 6 }),
  searchFiles: page,
  getDataFile: fc
    .tuple(record, fc.constantFrom(12, '12', '012'))
    .map(([rest, dataFileId]) => ({ ...rest, dataFileId })),
};

const recordsBody = (name: keyof typeof OPERATIONS) =>
  fc
    .tuple(recordsOf[name] ?? record, fc.constantFrom('', '\t', '\r\n'))
    .map(([value, indent]) => latin1(value, indent));

const bodyOf = (name: keyof typeof OPERATIONS) =>
  fc.oneof(
    { weight: name in recordsOf ? 12 : 1, arbitrary: recordsBody(name) },
    { weight: 4, arbitrary: fc.constant(latin1(OPERATIONS[name].sample)) },
    { weight: 3, arbitrary: changed(OPERATIONS[name].sample) },
    { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text).toString('latin1')) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...TOKENS)
        .map((token) => latin1(OPERATIONS[name].sample).replace(/\d+/, () => token)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...['', '{}', '[]', 'null', `"${TOKEN}"`, `{"message":"${TOKEN}","toe":"A-${TOKEN}"}`],
      ),
    },
  );

const status = fc.oneof(
  { weight: 8, arbitrary: fc.constant('200 OK') },
  fc.constantFrom(
    ...['201 Created', '203 X', '204 No Content', '206 Partial Content', '302 Found', '304 Not Modified'],
    ...['400 Bad', '401 X', '429 X', '500 X', '999', '200'],
  ),
);
const header = fc.constantFrom(
  ...['content-type: application/json', 'x-request: 1', `x-echo: ${TOKEN}`],
  ...[`location: https://a.example.com/${TOKEN}?t=${TOKEN}`, 'retry-after: 0', 'set-cookie: a=b'],
  ...['content-type: text/html', `content-type: text/${TOKEN}`, 'date: x', 'retry-after: 1e9'],
  ...['server: \xe9', 'connection: keep-alive'],
);
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.oneof(
    fc.constant(''),
    fc.constantFrom(...TOKENS),
    fc.constant('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'),
  ),
  removed: fc.constantFrom(0, 0, 1, 7, 100_000),
});

const AS_ANY = ['value', 'text'] as const;
const AS_RECORDS = ['value', 'text', 'records', 'records', 'records'] as const;

/** Responses: half of them complete and correct HTTP around any body. */
export const responseInputs: fc.Arbitrary<WireInput> = fc.constantFrom(...names).chain(
  (name) =>
    fc.record({
      operation: fc.constant(name),
      status,
      headers: fc.oneof(fc.constant(['content-type: application/json']), fc.array(header, { maxLength: 4 })),
      body: bodyOf(name),
      encoding: fc.constantFrom('identity', ...wireSchema.shape.encoding.options),
      framing: fc.constantFrom('length', 'chunked', 'close'),
      damage: fc.oneof(fc.constant([]), fc.array(damage, { minLength: 1, maxLength: 3 })),
      pieceBytes: fc.constantFrom(1, 7, 100, 1_000_000),
      ending: fc.constantFrom('end', 'end', 'reset'),
      as: fc.constantFrom(...(name in recordsOf ? AS_RECORDS : AS_ANY)),
      next: fc.constantFrom(false, false, true),
    }) as fc.Arbitrary<WireInput>,
);
