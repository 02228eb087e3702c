import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import * as z from 'zod/mini';
import type { SendContext } from '../../../../lib/jobs/send-context.ts';
import { scoreTexts } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import { dataFiles } from '../../../../lib/jobs/types/data-files/definition.ts';
import { runFunction } from '../../../../lib/jobs/types/run-function/definition.ts';
import { updateFormula } from '../../../../lib/jobs/types/update-formula/definition.ts';
import type { Platform } from '../../../../lib/platform/client.ts';
import { createBodyBudget } from '../../../../lib/platform/http/body.ts';
import { createTransport } from '../../../../lib/platform/http/transport.ts';
import type { RecordBatch } from '../../../../lib/snapshot/page/record-fields.ts';
import { rowsBetween } from '../../../../lib/snapshot/page/record-index.ts';
import type { Scan } from '../../../../lib/snapshot/scan.ts';
import { calculationPageReader } from '../../../../lib/snapshot/sources/calculations/pages.ts';
import { cardsScan } from '../../../../lib/snapshot/sources/cards/scan.ts';
import { dataFilesScan } from '../../../../lib/snapshot/sources/data-files/scan.ts';
import { filePageReader } from '../../../../lib/snapshot/sources/files/fileset-read.ts';
import { runnerOf } from '../../../jobs/runner-of.ts';
import { worker } from '../../../jobs/texts/fakes.ts';
import { createFakePace } from '../../../pace/fake-pace.ts';
import { clientOver } from '../../../platform/client-over.ts';
import * as records from '../../../platform/sample-records.ts';
import { recordsIn } from '../../../snapshot/batches.ts';
import { defineTarget, must } from '../target.ts';

/*
 * Responses in which every member that does not matter has another value. Through the client, the scans and the
 * jobs, over the real transport, the outcome must be the same as for the response in the contract.
 */

const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const path = { packageId: UUID, version: '1.0.0', functionName: 'greet' };

/** Values that replace a member, as JSON; `absent` removes the member. */
const ODD = {
  absent: undefined,
  null: 'null',
  number: '5',
  long: '12345678901234567890',
  fraction: '-1.5e-7',
  text: '"x"',
  blank: '""',
  true: 'true',
  list: '["x",5,null]',
  'empty list': '[]',
  object: '{"id":"x","log":5,"next":"n","type":7}',
  nested: `${'[{"a":'.repeat(100)}1${'}]'.repeat(100)}`,
  deep: `${'['.repeat(400)}${']'.repeat(400)}`,
  huge: JSON.stringify('é"\\'.repeat(5_000)),
  many: JSON.stringify(Array(3_000).fill({ a: 1 })),
} as const;
type Odd = keyof typeof ODD;
const odds = Object.keys(ODD) as [Odd, ...Odd[]];

const changeSchema = z.object({
  /** The index of the record that is changed, and of its member. */
  record: z.number(),
  member: z.number(),
  odd: z.enum(odds),
  /** Whether the member is there twice, with the odd value first or last. */
  twice: z.enum(['no', 'first', 'last']),
});

const schema = z.object({
  operation: z.enum([
    ...['searchCalculations', 'searchFiles', 'listCards', 'getDataFile'],
    ...['runFunction', 'updateFormula', 'analyzeSentiment'],
  ] as ['searchCalculations', ...string[]]),
  changes: z.array(changeSchema),
  /** Selects the values that matter: the status, the sentiment, and the field that holds a card's id. */
  variant: z.number(),
  /** Whether texts that do not matter are in another letter case. */
  isOtherCase: z.boolean(),
  contentType: z.enum(['application/json', 'text/plain', '', 'application/vnd.acme+json; charset=utf-8']),
  isMarked: z.boolean(),
});
type Answer = z.infer<typeof schema>;

const inputs: fc.Arbitrary<Answer> = fc.record({
  operation: fc.constantFrom(...schema.shape.operation.options),
  changes: fc.array(
    fc.record({
      record: fc.nat(4),
      member: fc.nat(40),
      odd: fc.constantFrom(...odds),
      twice: fc.constantFrom('no', 'no', 'first', 'last'),
    }),
    { maxLength: 8 },
  ),
  variant: fc.nat(60),
  isOtherCase: fc.boolean(),
  contentType: fc.constantFrom(...schema.shape.contentType.options),
  isMarked: fc.boolean(),
});

export const answers = defineTarget({
  name: 'answers',
  schema,
  tokens: [...odds, 'first', 'last', ...schema.shape.operation.options],
  inputs,
  async check(answer) {
    const { operation, contentType, isMarked } = answer;
    const check = CHECKS[operation as keyof typeof CHECKS];
    const headers = contentType === '' ? {} : { 'content-type': contentType };
    await check(answer, (text) => clientOf(Buffer.from(`${isMarked ? '\ufeff' : ''}${text}`), headers));
    const kinds = new Set(answer.changes.map(({ odd }) => odd));
    return `${operation}, ${kinds.size === 0 ? 'as it is' : [...kinds].toSorted()[0]}`;
  },
});

type Client = { readonly platform: Platform; readonly sent: { calls: number } };

/** A client whose platform responds to every request with this body. */
function clientOf(body: Buffer, headers: Readonly<Record<string, string>>): Client {
  const sent = { calls: 0 };
  const send = createTransport({
    baseUrl: new URL('https://acme.example.com'),
    tokenHeader: 'X-Token',
    maxResponseBytes: 10_000_000,
    bodies: createBodyBudget(),
    now: () => 0,
    async exchange() {
      sent.calls += 1;
      async function* bytes() {
        yield Buffer.from(body);
      }
      return { status: 200, headers, body: Object.assign(bytes(), { destroy: () => undefined }) };
    },
  });
  const sleep = async () => undefined;
  return {
    platform: clientOver({ send, sleep, pace: createFakePace(), now: () => 0, random: () => 0.5 }),
    sent,
  };
}

type Record_ = Readonly<Record<string, unknown>>;
type Members = readonly (readonly [name: string, json: string])[];

/** Members that the contract does not have, which are stored too. */
const MORE = {
  Id: 'x',
  ID: 7,
  _id: null,
  constructor: 'c',
  toString: { a: 1 },
  '': 0,
  statusText: 'SUCCESS',
};

/** A record as JSON text, with changed values for members that do not matter. */
function oddRecord(
  given: Record_,
  at: number,
  deciding: readonly string[],
  { changes, isOtherCase }: Answer,
): string {
  let members: Members = Object.entries({ ...given, ...MORE }).map(([name, value]) => {
    const json = JSON.stringify(value);
    return [name, isOtherCase && !deciding.includes(name) ? swapped(json) : json];
  });
  const free = members.map(([name]) => name).filter((name) => !deciding.includes(name));
  for (const { record, member, odd, twice } of changes) {
    if (record !== at) continue;
    const name = free[member % free.length] ?? '';
    const put = ODD[odd];
    const there = members.filter(([other]) => other === name);
    const others = members.filter(([other]) => other !== name);
    const odds: Members = put === undefined ? [] : [[name, put]];
    members = [
      ...others,
      ...(twice === 'no' ? odds : twice === 'first' ? [...odds, ...there] : [...there, ...odds]),
    ];
  }
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(',\n')}}`;
}

const swapped = (json: string): string =>
  json.replaceAll(/"(?:[A-Za-z_ ]+)"(?!\s*:)/g, (text) =>
    text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase(),
  );

const parsed = (text: string): Record_ => JSON.parse(text);

/** Checks that, apart from the members that matter, the record was read as it was sent. */
function mustBeKept(read: unknown, sent: string, deciding: readonly string[]): void {
  const without = (value: unknown) =>
    Object.fromEntries(Object.entries(Object(value)).filter(([name]) => !deciding.includes(name)));
  const [got, expected] = [withNumbers(without(read)), without(parsed(sent))];
  must(
    isDeepStrictEqual(got, expected),
    'a record is kept as it came',
    () => `${JSON.stringify(got)} of ${sent}`,
  );
}

/** JSON in which bigints are printed as numbers. */
const withNumbers = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? Number(each) : each)));

function mustBe(got: unknown, expected: unknown, what: string): void {
  must(
    isDeepStrictEqual(got, expected),
    what,
    () => `${JSON.stringify(got)}, not ${JSON.stringify(expected)}`,
  );
}

type Check = (answer: Answer, client: (text: string) => Client) => Promise<void>;

const sort = { field: 'id', ascending: true };
const turn: SendContext = {
  signal: new AbortController().signal,
  beforeSend: async () => {},
  onSend: () => undefined,
};
const pickOf = <T>(list: readonly T[], at: number): T => list[at % list.length] as T;

/** A response with its list and other members. */
const envelope = (list: string, rows: readonly string[], more: Record_, answer: Answer): string =>
  oddRecord({ ...more, [list]: 0 }, 4, [list], answer).replace(
    `"${list}": 0`,
    `"${list}": [${rows.join(' , ')}]`,
  );

const CHECKS = {
  async searchCalculations(answer, client) {
    const ids = [17, '18', '0019', 9007199254740993n];
    const rows = ids.map((id, at) =>
      oddRecord(records.calculationRow({ id: String(id) }), at, ['id'], answer),
    );
    const keys = ['17', '18', '19', '9007199254740993'];
    const text = envelope(
      'results',
      rows,
      { totalHits: 4, hasMore: false, degraded: false },
      withoutTrue(answer),
    );

    const page = await client(text).platform.calculations.search({ sort });
    const { call } = client(text).platform;
    const read = calculationPageReader({ call, selection: {}, sleep: async () => {} }, 'id');
    const scanned = await read({ ascending: true, offset: 0, limit: 10 });
    mustBe(
      page.rows.map(({ id }) => id),
      keys,
      'the client reads all rows',
    );
    for (const [at, row] of page.rows.entries()) mustBeKept(row, rows[at] ?? '', ['id']);
    mustBe(scanned.keys, keys, 'the scan finds all rows');
    mustBeLines(scanned.batchOf([...keys.keys()]), keys, rows);
  },
  async searchFiles(answer, client) {
    const rows = ['a', 'é"', 'c'].map((id, at) => oddRecord(records.file({ id }), at, ['id'], answer));
    const context = oddRecord({ next: 'k', offset: 0, limit: 100, total: 250 }, 3, ['next'], answer);
    const text = envelope('files', rows, { other: 1 }, answer).replace(/\}$/, `,"pageContext":${context}}`);

    const page = await client(text).platform.files.pages(UUID).next();
    const scanned = await filePageReader(client(text).platform.call, {})({ filesetId: UUID, next: null });
    mustBe(
      page.value?.rows.map(({ id }) => id),
      ['a', 'é"', 'c'],
      'the client reads all files',
    );
    for (const [at, row] of (page.value?.rows ?? []).entries()) mustBeKept(row, rows[at] ?? '', ['id']);
    mustBe(scanned.next, 'k', 'the scan finds the cursor');
    mustBeLines(
      scanned.batchOf(rowsBetween(0, scanned.files)),
      ['a', 'é"', 'c'].map((id) => `${UUID}/${id}`),
      rows,
      { _filesetId: UUID },
    );
  },
  async listCards(answer, client) {
    const names: readonly Record_[] = [
      { id: 1 },
      { id: '1' },
      { id: null, urn: '1' },
      { id: {}, urn: 'x', kpiId: 1 },
    ];
    const idOf = (at: number) => pickOf(names, answer.variant + at);
    const keys = ['10', '11', '12'];
    const rows = keys.map((key, at) => {
      const named = Object.fromEntries(
        Object.entries(idOf(at)).map(([name, value]) => [name, String(value) === '1' ? key : value]),
      );
      return oddRecord(
        records.card({ ...named, datasourceId: UUID }),
        at,
        ['id', 'urn', 'kpiId', 'datasourceId'],
        answer,
      );
    });
    const text = `[${rows.join(' ,\n')}]`;

    const cards = await client(text).platform.cards.ofDataset(UUID);
    const { call } = client(text).platform;
    const lines = await linesOf(cardsScan({ call, datasetIds: [UUID], drill: true }));
    mustBe(
      cards.map(({ id }) => id),
      keys,
      'the client reads all cards',
    );
    for (const [at, row] of cards.entries()) mustBeKept(row, rows[at] ?? '', ['id']);
    mustBe(
      lines.keys,
      keys.map((key) => `${UUID}/${key}`),
      'the scan finds all cards',
    );
    mustBe(
      lines.records.map(({ id }) => String(id)),
      keys,
      'each line names its card',
    );
    for (const [at, line] of lines.records.entries()) mustBeKept(line, rows[at] ?? '', ['id', '_datasetId']);
  },
  async getDataFile(answer, client) {
    const id = pickOf<Record_>(
      [{ dataFileId: 12 }, { dataFileId: '012' }, {}, { dataFileId: null }, { dataFileId: ['x'] }],
      answer.variant,
    );
    const { dataFileId: _, ...file } = records.dataFile({ revisions: [records.revision()] });
    const text = oddRecord({ ...file, ...id }, 0, ['dataFileId'], answer);

    const read = await client(text).platform.dataFiles.get(12);
    const lines = await linesOf(dataFilesScan({ call: client(text).platform.call, ids: ['12'] }));
    const job = { version: 1 as const, type: 'data-files' as const, id: 'j', ids: ['12'] };
    const done = await runnerOf(dataFiles, client(text).platform)(job, turn);
    mustBe(read.dataFileId, '12', 'the client reads the file');
    mustBeKept(read, text, ['dataFileId']);
    mustBe(lines.keys, ['12'], 'the scan finds the file');
    mustBe(BigInt(String(lines.records[0]?.['dataFileId'])), 12n, 'the line names the file');
    mustBeKept(lines.records[0], text, ['dataFileId']);
    mustBe(done.status, 'done', 'the job is done');
    mustBeKept(JSON.parse(String(done.response)).files[0], text, []);
  },
  async runFunction(answer, client) {
    const [word, ended] = pickOf(ENDS, answer.variant);
    const text = oddRecord(records.execution({ status: word }), 0, ['status'], answer);
    const job = { version: 1, type: 'run-function', id: 'j', onUnknown: 'fail' } as const;
    const message = { ...job, packageId: UUID, packageVersion: '1.0.0', functionName: 'greet' };

    const execution = await client(text).platform.functions.run(path);
    const result = await runnerOf(runFunction, client(text).platform)(message, turn);
    mustBe(execution.status, word, 'the client reads the status');
    mustBeKept(execution, text, ['status']);
    mustBe(result.status, ended, 'the job ended as the status says');
    mustBe(
      result.error?.kind,
      ended === 'failed' ? 'execution' : ended === 'done' ? undefined : kindOf(word),
      'and says why',
    );
    mustBeKept(JSON.parse(String(result.response)), text, []);
  },
  async updateFormula(answer, client) {
    const [status, ended] = pickOf<readonly [unknown, string]>(
      [
        ['VALID', 'done'],
        ['INVALID', 'failed'],
        [' invalid', 'failed'],
        [null, 'done'],
        [5, 'done'],
      ],
      answer.variant,
    );
    const id = pickOf<Record_>([{ id: 17 }, { id: '017' }, { id: null }, { id: {} }], answer.variant);
    const text = oddRecord(records.calculation({ ...id, status }), 0, ['id', 'status'], answer);
    const message = {
      version: 1,
      type: 'update-formula',
      id: 'j',
      calculationId: '17',
      expression: '1',
    } as const;

    const updated = await client(text).platform.calculations.updateFormula(17, '1');
    const result = await runnerOf(updateFormula, client(text).platform)(message, turn);
    mustBe(updated.id, '17', 'the client reads the calculation');
    mustBeKept(updated, text, ['id']);
    mustBe(result.status, ended, 'the job ended as the platform says');
    mustBe(result.error?.kind, ended === 'failed' ? 'invalid-formula' : undefined, 'and says why');
    mustBeKept(JSON.parse(String(result.response)), text, []);
  },
  async analyzeSentiment(answer, client) {
    const topics = [{ topic: 'price' }, { topic: 'service' }];
    const sentiments = pickOf<unknown>(
      [
        { price: 'NEGATIVE', service: null },
        { Price: 'negative' },
        { service: {} },
        null,
        [],
        'x',
        { price: 5, more: 'y' },
      ],
      answer.variant,
    );
    const own = new Map(
      Object.entries(typeof sentiments === 'object' && !Array.isArray(sentiments) ? (sentiments ?? {}) : {}),
    );
    const text = oddRecord(
      records.sentiment({ topicSentiments: sentiments }),
      0,
      ['topicSentiments'],
      answer,
    );
    const expected = {
      price: own.get('price') ?? own.get('Price') ?? null,
      service: own.get('service') ?? null,
    };

    const read = await client(text).platform.sentiment.analyze({ text: 'dear', topics });
    const { platform, sent } = client(text);
    const { options } = worker(platform.sentiment.analyze);
    const scored = await scoreTexts([{ id: '1', text: 'dear' }], { topics }, options);
    const again = await scoreTexts([{ id: '1', text: 'dear' }], { topics }, options);
    mustBe(
      { ...expected, ...read.topicSentiments },
      { ...expected, ...more(own) },
      'the client reads each topic',
    );
    mustBe(sent.calls, 1, 'a text is paid for once');
    for (const each of [scored, again]) {
      const result = each.kind === 'scored' ? each.results[0] : undefined;
      must(result?.error === undefined && result?.result !== undefined, 'a text is scored', () =>
        JSON.stringify(each),
      );
      const { price, service } = Object(result.result.topicSentiments ?? {});
      mustBe({ price: price ?? null, service: service ?? null }, expected, 'a score has each topic');
    }
  },
} as const satisfies Readonly<Record<string, Check>>;

const more = (own: ReadonlyMap<string, unknown>) => (own.has('more') ? { more: own.get('more') } : {});

const ENDS = [
  ...['SUCCESS', 'success', ' Success ', 'OUTPUT_UNDEFINED', 'output_undefined\n'].map(
    (word) => [word, 'done'] as const,
  ),
  ...['FAILED', 'Failed ', 'RESULT_TYPE_FAILURE'].map((word) => [word, 'failed'] as const),
  ...['RUNNING', 'UNDEFINED', 'QUEUED', 'PENDING', 'TIMED_OUT', 'COMPLETED', ''].map(
    (word) => [word, 'unknown'] as const,
  ),
];

const kindOf = (word: string) => (word === 'RUNNING' ? 'running' : word === '' ? 'shape' : 'undetermined');

/** Removes `true` among the odd values of a response, since `degraded: true` has a meaning. */
const withoutTrue = (answer: Answer): Answer => ({
  ...answer,
  changes: answer.changes.filter(({ record, odd }) => record !== 4 || odd !== 'true'),
});

function mustBeLines(
  batch: RecordBatch,
  keys: readonly string[],
  rows: readonly string[],
  first: Record_ = {},
): void {
  const { keys: got, lines } = recordsIn(batch);
  mustBe(got, keys, 'each line has its key');
  for (const [at, line] of lines.entries())
    mustBe(parsed(line), { ...first, ...parsed(rows[at] ?? '') }, 'a line is the record');
}

async function linesOf<Position>(scan: Scan<Position>) {
  const keys: string[] = [];
  const records: Record_[] = [];
  async function* noKeys(): AsyncGenerator<readonly string[]> {}
  const steps = scan({ from: undefined, readBackKeys: () => noKeys() });
  for await (const { batch } of steps) {
    const found = recordsIn(batch);
    keys.push(...found.keys);
    records.push(...found.lines.map(parsed));
  }
  return { keys, records };
}
