import { inspect, isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { once } from '../../../../lib/base/async.ts';
import { repairBytes } from '../../../../lib/base/json/json.ts';
import type { Call } from '../../../../lib/platform/call.ts';
import type { Endpoint, EndpointInput } from '../../../../lib/platform/endpoint.ts';
import { createPlatform } from '../../../../lib/platform/open-calls.ts';
import { PlatformError } from '../../../../lib/platform/platform-error.ts';
import { fixedToken } from '../../../../lib/platform/token.ts';
import { createFakePace } from '../../../pace/fake-pace.ts';
import { everythingOf } from '../../../platform/everything-of.ts';
import { defineTarget, must } from '../target.ts';
import { comparable, decoded, exactReference } from './exact-reference.ts';
import { expectedIn, shownOf } from './expected-records.ts';
import { type Found, type FoundIn, foundIn } from './found-records.ts';
import { startRawServer } from './raw-server.ts';
import { OPERATIONS, responseInputs, TOKEN, TOKENS, type WireInput, wireSchema } from './response-inputs.ts';
import { bytesOnWire } from './wire.ts';

/* Responses as bytes on a connection: each is read as its exact value, or is a client error that names the operation. */

const ready = once(async () => {
  const server = await startRawServer();
  const platform = createPlatform({
    baseUrl: server.url,
    token: fixedToken(TOKEN),
    pace: createFakePace(),
    maxResponseBytes: 1_000_000,
    timeoutMs: 20_000,
    retry: { maxRetries: 1, maxMisdirectedRetries: 1, baseDelayMs: 1, maxDelayMs: 1, budgetMs: 20 },
  });
  return { server, platform };
});

export const responses = defineTarget({
  name: 'responses',
  schema: wireSchema,
  tokens: TOKENS,
  inputs: responseInputs,
  async check(wire) {
    const { server, platform } = await ready();
    const wireBytes = bytesOnWire(wire);
    const isDamaged = wire.damage.length > 0;
    const ending = isDamaged || wire.framing === 'close' ? wire.ending : 'keep';
    await server.play({
      pieces: piecesOf(wireBytes, wire.pieceBytes),
      // Otherwise the client would wait until its timeout for bytes that never come.
      ending: ending === 'keep' && (isDamaged || breaksHead(wire)) ? 'end' : ending,
    });
    const { endpoint } = OPERATIONS[wire.operation];
    // A code function's own timeout is too long for this test.
    const limited: Endpoint<EndpointInput, unknown> = { ...endpoint, timeoutMs: 20_000 };
    const got = await outcomeOf(read(platform.call, limited, wire));
    const isPredictable = !isDamaged && ending !== 'reset' && isOrdinary(wire);
    if (got.kind === 'failed') checkError(got.error, endpoint.name);
    if (isPredictable) {
      const text = textOf(wire);
      // The body is UTF-16 by its byte order mark, or an error with a 2xx status.
      const isOther =
        /^(ÿþ|þÿ)/.test(wire.body) || (got.kind === 'failed' && got.error.failure.kind === 'status');
      if (isOther) return endpoint.name;
      if (isFoundIn(wire.operation) && wire.as === 'records') checkRecords(wire.operation, text, got);
      else checkMeaning(wire, text, got);
    }
    if (wire.next) await checkNext();
    return got.kind === 'failed'
      ? `${got.error.failure.kind}${isDamaged ? ', damaged' : ''}`
      : `${endpoint.name}${isDamaged ? ', damaged' : ''}`;
  },
  async close() {
    await (await ready()).server.close();
  },
});

const isFoundIn = (operation: string): operation is FoundIn => Object.hasOwn(foundIn, operation);

function read(
  call: Call,
  endpoint: Endpoint<EndpointInput, unknown>,
  { operation, as }: WireInput,
): Promise<unknown> {
  const { input } = OPERATIONS[operation];
  if (as === 'value') return call(endpoint, input);
  return as === 'records' && isFoundIn(operation)
    ? foundIn[operation](call, endpoint, input)
    : call.raw(endpoint, input);
}

/** Whether a header or status contains a line break, so that the rest becomes another line, or the body. */
const breaksHead = ({ status, headers }: Pick<WireInput, 'status' | 'headers'>): boolean =>
  [status, ...headers].some((line) => /[\r\n]/.test(line));

/** Whether the head is valid HTTP and says nothing about the body. */
const isOrdinary = ({ status, headers }: { readonly status: string; readonly headers: readonly string[] }) =>
  /^20[013] [A-Za-z ]+$/.test(status) &&
  headers.every((line) =>
    /^(?!content-|transfer|connection)[a-z-]+: [ -~]*$|^content-type: (?:application\/json|text\/[a-z]+)$/.test(
      line,
    ),
  );

const MAX_PIECES = 400;

function piecesOf(bytes: Buffer, sizeBytes: number): readonly Buffer[] {
  const size = Math.max(1, Math.ceil(sizeBytes), Math.ceil(bytes.byteLength / MAX_PIECES));
  return Array.from({ length: Math.ceil(bytes.byteLength / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
}

type Got =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: PlatformError };

async function outcomeOf(call: Promise<unknown>): Promise<Got> {
  try {
    return { kind: 'value', value: await call };
  } catch (error) {
    if (error instanceof PlatformError) return { kind: 'failed', error };
    throw error;
  }
}

/** Checks that an error names the operation, is short, and never contains the token. */
function checkError(error: PlatformError, operation: string): void {
  must(
    error.operation === operation && error.message.startsWith(`${operation} (`),
    'an error names its operation',
    () => error.message,
  );
  must(error.message.length <= 4_100, 'an error is short', () => String(error.message.length));
  must(!everythingOf(error).includes(TOKEN), 'no error holds the token', () => error.message);
}

/** The text of a complete response that should be JSON, with invalid UTF-8 repaired. */
function textOf({ body }: Pick<WireInput, 'body'>): string {
  const text = decoded(body) ?? new TextDecoder().decode(Buffer.from(body, 'latin1'));
  return exactReference(text) === undefined ? String(repairBytes(Buffer.from(text)) ?? text) : text;
}

/** Checks that a complete response is accepted if and only if it is JSON in UTF-8, with exactly the value of its bytes. */
function checkMeaning({ as, operation }: WireInput, text: string, got: Got): void {
  const parsed = exactReference(text);
  // Other bodies are accepted too: an update was executed whatever the body says, and a text was paid for.
  const hasOtherBody = operation === 'updateFormula' || text.trim() === '';
  if (parsed === undefined && hasOtherBody && OPERATIONS[operation].endpoint.otherBody !== undefined) return;
  const reference = as === 'value' && parsed !== undefined ? asRead(operation, parsed) : parsed;
  const isJson = reference !== undefined;
  if (got.kind === 'failed') {
    const { kind } = got.error.failure;
    const isRefused = kind === 'cut' || kind === 'not-json';
    must(!isRefused || !isJson, 'complete JSON is not refused', () => got.error.message);
    must(
      isRefused || kind === 'shape',
      'a complete response has a value or a wrong shape',
      () => got.error.message,
    );
    return;
  }
  must(isJson, 'only JSON is accepted', () => inspect({ text, got }).slice(0, 500));
  const value = as === 'value' ? got.value : valueOfRaw(got.value);
  must(isDeepStrictEqual(comparable(value), reference), 'the value is that of the bytes', () =>
    JSON.stringify({ text, value }, (_, each) => (typeof each === 'bigint' ? `${each}n` : each)),
  );
  if (as !== 'value')
    must(textOfRaw(got.value) === text, 'the text is that of the bytes', () => String(text));
}

/** The value as the client returns it: a record's id is in the field of ids, and members that are null are missing. */
function asRead(operation: WireInput['operation'], parsed: unknown): unknown {
  const members = (value: unknown) => (value instanceof Map ? value : new Map<string, unknown>());
  const withId = (name: string, id: string) => {
    const given = members(parsed);
    return isDigits(given.get(name)) ? given : new Map([...given, [name, id]]);
  };
  switch (operation) {
    case 'updateFormula':
      return withId('id', '17');
    case 'getDataFile':
      return withId('dataFileId', '12');
    case 'analyzeSentiment': {
      const { topicSentiments, ...rest } = Object.fromEntries(members(parsed));
      const odd =
        topicSentiments === undefined || topicSentiments === 'null'
          ? {}
          : { _topicSentiments: topicSentiments };
      const isNamed = topicSentiments instanceof Map;
      return new Map(Object.entries({ ...rest, ...(isNamed ? { topicSentiments } : odd) }));
    }
    case 'listCards':
      return Array.isArray(parsed) ? parsed.map(cardWithId) : parsed === 'null' ? [] : parsed;
    default:
      return parsed === 'null' ? new Map() : parsed;
  }
}

const isDigits = (value: unknown): boolean => typeof value === 'string' && /^-?\d{1,64}$/.test(value);

function cardWithId(card: unknown): unknown {
  if (!(card instanceof Map) || isDigits(card.get('id'))) return card;
  return new Map([...card, ['id', isDigits(card.get('urn')) ? card.get('urn') : card.get('kpiId')]]);
}

/** Deeper nesting is rejected. */
const DEEP = '['.repeat(100);

/**
 * Checks that the records found are those that another parser reads, in the same order, or that the response is
 * rejected with a typed error.
 */
function checkRecords(operation: FoundIn, text: string, got: Got): void {
  const expected = expectedIn(operation, text);
  if (got.kind === 'failed') {
    const isDeep = text.replaceAll(/\s/g, '').includes(DEEP);
    must(
      expected === undefined || isDeep,
      'records are not refused',
      () => `${got.error.message} in ${text}`,
    );
    const kinds = ['cut', 'not-json', 'shape'];
    must(kinds.includes(got.error.failure.kind), 'a refusal says what is wrong', () => got.error.message);
    return;
  }
  const shown = shownOf(got.value as Found);
  must(expected !== undefined, 'only records are found', () => JSON.stringify(shown).slice(0, 500));
  must(isDeepStrictEqual(shown, expected), 'the records are those of the bytes', () =>
    inspect({ text, shown, expected }, { depth: 8 }),
  );
}

const rawSchema = z.object({ text: z.string(), json: z.unknown() });
const valueOfRaw = (value: unknown) => rawSchema.parse(value).json;
const textOfRaw = (value: unknown) => rawSchema.parse(value).text;

let calls = 0;

/** Checks that the next call gets its own response, on any connection, and not the rest of this one. */
async function checkNext(): Promise<void> {
  const { server, platform } = await ready();
  calls += 1;
  const body = JSON.stringify({ dataFileId: calls, name: `number ${calls}` });
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  await server.play({ pieces: [Buffer.from(head + body)], ending: 'keep' });
  const got = await outcomeOf(platform.dataFiles.get(calls));
  // Failed retries on a broken connection are acceptable; a wrong response is not.
  if (got.kind === 'value')
    must(
      isDeepStrictEqual(got.value, { dataFileId: String(calls), name: `number ${calls}` }),
      'no response is that of another request',
      () => JSON.stringify(got.value),
    );
  else must(got.error.failure.kind === 'connection', 'the next call is not refused', () => got.error.message);
}
