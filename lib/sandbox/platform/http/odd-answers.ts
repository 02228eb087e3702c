import { crc32 } from 'node:zlib';
import { parseJson, printJson } from '../../../base/index.ts';
import { type Random, randomFor } from '../records/random.ts';
import { type ErrorShapes, errorShapes, jsonTextResponse, type PlainResponse } from './responses.ts';

/*
 * Answers as another platform of the same contract might give them. What an operation's outcome depends on means the
 * same; every other member may be absent, null, of another type, in another letter case, or nested. The answer about the
 * same record is odd in the same way each time, since no platform changes the shape of a record between two reads.
 */

/** How the value of a member that decides may come as well. Undefined: the member is absent. */
export type Form = (value: unknown, random: Random) => unknown;

type Members = Readonly<Record<string, unknown>>;

/** What must keep its meaning in the answers of an operation. */
export type Oddity = {
  /** The member that is the list of records, or '' if the answer is that list. Default: the answer is the only record. */
  readonly list?: string;
  /** Another way to name a record, by other members. */
  readonly rename?: Form;
  /** Members of a record. */
  readonly decides: Readonly<Record<string, Form>>;
  /** Members beside the list. */
  readonly beside?: Readonly<Record<string, Form>>;
};

type OddOptions = { readonly seed: number; readonly odd: number; readonly number: number };

/** The answer to a request, odd with the probability `odd`: its records each on their own. */
export function oddResponse(
  body: string | Uint8Array<ArrayBuffer>,
  { list, decides, beside = {}, rename = forms.same }: Oddity,
  { seed, odd, number }: OddOptions,
): PlainResponse {
  if (odd === 0) return jsonTextResponse(body);
  const random = randomFor(seed, 'odd answer', number);
  const isOdd = random.chance(odd);
  const answer = parseJson(typeof body === 'string' ? body : Buffer.from(body).toString()) as Members;
  const record = (given: unknown) => {
    const own = randomFor(seed, 'odd record', crc32(printJson(given)));
    return own.chance(odd) ? oddRecord(rename(given, own) as Members, decides, own) : given;
  };
  const found = list === '' ? answer : list === undefined ? undefined : answer[list];
  if (!Array.isArray(found)) return oddEnvelope(record(answer), isOdd, random);
  const records = found.map(record);
  const total = Number(answer['totalHits'] ?? Object(answer['pageContext']).total ?? 0);
  const isNone = isOdd && records.length === 0 && total === 0;
  if (isNone && random.chance(1 / 3)) return { status: 204, headers: {}, body: '' };
  const rows = isNone ? random.pick(list === '' ? [null, []] : [null, undefined, []]) : records;
  if (list === undefined || list === '') return oddEnvelope(rows, isOdd, random);
  const others = isOdd ? oddRecord(answer, { ...beside, [list]: () => rows }, random) : answer;
  return oddEnvelope({ ...others, [list]: rows }, isOdd, random);
}

/** JSON, as a platform that is odd here may send it. Bytes get no content type of their own. */
function oddEnvelope(value: unknown, isOdd: boolean, random: Random): PlainResponse {
  const response = jsonTextResponse(Buffer.from(printJson(value)));
  if (!isOdd) return response;
  const headers = random.pick([{}, { 'content-type': 'text/plain; charset=utf-8' }, response.headers]);
  return { ...response, headers };
}

/** The shapes of the errors of one request: any that the platform has anywhere. */
export function oddErrors(shapes: ErrorShapes, { seed, odd, number }: OddOptions): ErrorShapes {
  const random = randomFor(seed, 'odd error', number);
  if (!random.chance(odd)) return shapes;
  return { usual: random.pick(errorShapes), forbidden: random.pick(errorShapes) };
}

/** Half of the members that do not decide are odd, and there is one that nobody knows. */
function oddRecord(record: Members, decides: Oddity['decides'], random: Random): Members {
  const members = Object.entries(record).map(([name, value]) => {
    const form = decides[name];
    if (form !== undefined) return [name, form(value, random)] as const;
    return [name, random.chance(0.5) ? random.pick(ODD)(value, random) : value] as const;
  });
  return Object.fromEntries([...members, ['sandboxTrace', random.pick([null, 7, { a: [{}] }])]]);
}

const ODD: readonly Form[] = [
  () => undefined,
  () => null,
  (value) => (typeof value === 'string' ? 7 : String(value)),
  (value) => ({ value }),
  (value) => [value],
  (value) => lowered(value),
  (value) => (isWord(value) ? 'A_WORD_OF_TOMORROW' : value),
];

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[A-Z][A-Z_]+$/.test(value);

/** The words of an enum in lower case, at any depth. */
function lowered(value: unknown): unknown {
  if (isWord(value)) return value.toLowerCase();
  if (Array.isArray(value)) return value.map(lowered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, lowered(each)]));
}

const word: Form = (value, random) => random.pick([value, String(value).toLowerCase(), ` ${String(value)} `]);

/** The forms of what decides. */
export const forms = {
  same: (value) => value,
  id: (value, random) => random.pick([value, String(value)]),
  /** An id that the answer need not repeat. */
  askedId: (value, random) => random.pick([value, String(value), null, undefined]),
  count: (value, random) => random.pick([value, String(value)]),
  word,
  time: (value, random) =>
    typeof value === 'number' ? random.pick([value, String(value), new Date(value).toISOString()]) : value,
  lowered: (value, random) => random.pick([value, String(value).toLowerCase()]),
  no: (_, random) => random.pick([false, null, undefined]),
  /** VALID is one of many words; INVALID is not. */
  validity: (value, random) =>
    value === 'INVALID' ? word(value, random) : random.pick([value, 'valid', null, undefined, 'ACTIVE']),
} as const satisfies Readonly<Record<string, Form>>;

/** A form for an object: of its members only these decide. */
export const membersOf =
  (decides: Oddity['decides']): Form =>
  (value, random) =>
    oddRecord(value as Members, decides, random);

/** A form for a list of such objects. */
export const eachOf =
  (form: Form): Form =>
  (value, random) =>
    (value as readonly unknown[]).map((each) => form(each, random));
