import { STATUS_CODES } from 'node:http';
import { crc32 } from 'node:zlib';
import { parseJson, printJson } from '../../../base/json/index.ts';
import { drawFor, type Random, randomFor } from '../records/random.ts';

/*
 * Odd responses: what another platform with the same contract might send. The members that decide an operation's
 * outcome keep their meaning; every other member may be absent, null, of another type, in another letter case, or
 * nested. A record is odd in the same way each time, since a platform does not change the shape of a record between two
 * reads.
 */

/** Returns another form of a value, with the same meaning. If it returns undefined, the member is left out. */
export type Form = (value: unknown, random: Random) => unknown;

type Members = Readonly<Record<string, unknown>>;

/** What must keep its meaning in the responses of an operation. */
export type Oddity = {
  /**
   * The member with the list of records, or '' if the response itself is the list. Default: the response is a single
   * record.
   */
  readonly list?: string;
  /** Identifies a record by other members. Default: the record stays as it is. */
  readonly rename?: Form;
  /** The members of a record that decide an outcome. */
  readonly decides: Readonly<Record<string, Form>>;
  /** The members outside the list that decide an outcome. */
  readonly outsideList?: Readonly<Record<string, Form>>;
};

/** `odd`: the probability that a response or a record is odd. `number`: the number of the request. */
type OddOptions = { readonly seed: number; readonly odd: number; readonly number: number };

/** The response to a request. It is odd with the probability `odd`, and so is, independently, each of its records. */
export function oddResponse(
  body: string | Uint8Array<ArrayBuffer>,
  { list, decides, outsideList = {}, rename = forms.same }: Oddity,
  { seed, odd, number }: OddOptions,
): PlainResponse {
  if (odd === 0) return jsonTextResponse(body);
  const random = randomFor(seed, 'odd answer', number);
  const isOdd = random.chance(odd);
  const response = parseJson(typeof body === 'string' ? body : Buffer.from(body).toString()) as Members;
  const drawRecord = (record: unknown) => {
    const recordRandom = randomFor(seed, 'odd record', crc32(printJson(record)));
    if (!recordRandom.chance(odd)) return record;
    return oddRecord(rename(record, recordRandom) as Members, decides, recordRandom);
  };
  const listed = list === '' ? response : list === undefined ? undefined : response[list];
  if (!Array.isArray(listed)) return oddEnvelope(drawRecord(response), isOdd, random);
  const records = listed.map(drawRecord);
  const total = Number(response['totalHits'] ?? Object(response['pageContext']).total ?? 0);
  const isOddEmpty = isOdd && records.length === 0 && total === 0;
  if (isOddEmpty && random.chance(1 / 3)) return { status: 204, headers: {}, body: '' };
  const rows = isOddEmpty ? random.pick(list === '' ? [null, []] : [null, undefined, []]) : records;
  if (list === undefined || list === '') return oddEnvelope(rows, isOdd, random);
  const others = isOdd ? oddRecord(response, { ...outsideList, [list]: () => rows }, random) : response;
  return oddEnvelope({ ...others, [list]: rows }, isOdd, random);
}

/** A JSON response. An odd response may have another content type, or none. */
function oddEnvelope(value: unknown, isOdd: boolean, random: Random): PlainResponse {
  const response = jsonTextResponse(Buffer.from(printJson(value)));
  if (!isOdd) return response;
  const headers = random.pick([{}, { 'content-type': 'text/plain; charset=utf-8' }, response.headers]);
  return { ...response, headers };
}

/** The shapes of the errors of one request: `shapes` or, with the probability `odd`, any that the platform has. */
export function oddErrors(shapes: ErrorShapes, { seed, odd, number }: OddOptions): ErrorShapes {
  const random = randomFor(seed, 'odd error', number);
  if (!random.chance(odd)) return shapes;
  return { usual: random.pick(errorShapes), forbidden: random.pick(errorShapes) };
}

/** Makes half of the members that do not decide an outcome odd, and adds a member that is not in the contract. */
function oddRecord(record: Members, decides: Oddity['decides'], random: Random): Members {
  const members = Object.entries(record).map(([name, value]) => {
    const form = decides[name];
    if (form !== undefined) return [name, form(value, random)] as const;
    return [name, random.chance(0.5) ? random.pick(ODD_FORMS)(value, random) : value] as const;
  });
  return Object.fromEntries([...members, ['sandboxTrace', random.pick([null, 7, { a: [{}] }])]]);
}

const ODD_FORMS: readonly Form[] = [
  () => undefined,
  () => null,
  (value) => (typeof value === 'string' ? 7 : String(value)),
  (value) => ({ value }),
  (value) => [value],
  (value) => lowered(value),
  (value) => (isWord(value) ? 'A_WORD_OF_TOMORROW' : value),
];

const isWord = (value: unknown): value is string => typeof value === 'string' && /^[A-Z][A-Z_]+$/.test(value);

/** Converts the words of an enum to lower case, at any depth. */
function lowered(value: unknown): unknown {
  if (isWord(value)) return value.toLowerCase();
  if (Array.isArray(value)) return value.map(lowered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, lowered(each)]));
}

const word: Form = (value, random) => random.pick([value, String(value).toLowerCase(), ` ${String(value)} `]);

/** The forms that deciding members may have. */
export const forms = {
  same: (value) => value,
  id: (value, random) => random.pick([value, String(value)]),
  /** An id that the request contained, so the response need not repeat it. */
  requestedId: (value, random) => random.pick([value, String(value), null, undefined]),
  count: (value, random) => random.pick([value, String(value)]),
  word,
  time: (value, random) =>
    typeof value === 'number' ? random.pick([value, String(value), new Date(value).toISOString()]) : value,
  lowered: (value, random) => random.pick([value, String(value).toLowerCase()]),
  no: (_, random) => random.pick([false, null, undefined]),
  /** VALID may be another word, or absent; INVALID stays INVALID. */
  validity: (value, random) =>
    value === 'INVALID' ? word(value, random) : random.pick([value, 'valid', null, undefined, 'ACTIVE']),
} as const satisfies Readonly<Record<string, Form>>;

/** A form for an object of which only these members decide an outcome. */
export const membersOf =
  (decides: Oddity['decides']): Form =>
  (value, random) =>
    oddRecord(value as Members, decides, random);

/**
 * Every fault, and whether it happens before or after the operation. If it happens after, a change was made, but the
 * client gets no response that says so.
 */
export const faults = {
  'error-platform': 'before',
  'error-message': 'before',
  'error-text': 'before',
  'error-page': 'before',
  'error-after': 'after',
  'reset-before': 'before',
  'reset-after': 'after',
  'cut-body': 'after',
  'login-page': 'before',
  'login-redirect': 'before',
} as const satisfies Readonly<Record<string, 'before' | 'after'>>;

type FaultKind = keyof typeof faults;

/** The names of all faults. */
export const faultKinds = Object.keys(faults) as [FaultKind, ...FaultKind[]];

/** How a request ends: with a `whole` response, with half of its body (`cut`), or with a reset of the connection. */
export type Delivery =
  | { readonly kind: 'whole'; readonly response: PlainResponse }
  | { readonly kind: 'cut'; readonly response: PlainResponse }
  | { readonly kind: 'reset' };

/** What the client gets because of a fault. `performed` is the operation's response, if the fault happens after it. */
export function faultyDelivery(
  kind: FaultKind,
  context: ErrorContext,
  performed: PlainResponse | undefined,
): Delivery {
  switch (kind) {
    case 'error-platform':
    case 'error-after':
      return whole(platformErrorResponse(context, 500, 'An unexpected error occurred'));
    case 'error-message':
      return whole(jsonResponse({ message: 'Service temporarily unavailable' }, 503));
    case 'error-text':
      return whole(jsonResponse('Internal error', 500));
    case 'error-page':
      return whole(htmlResponse('502 Bad Gateway', 502));
    case 'login-page':
      return whole(htmlResponse('Sign in', 200));
    case 'login-redirect': {
      const page = htmlResponse('See other', 303);
      return whole({ ...page, headers: { ...page.headers, location: '/auth/login' } });
    }
    case 'cut-body':
      return performed === undefined ? { kind: 'reset' } : { kind: 'cut', response: performed };
    case 'reset-before':
    case 'reset-after':
      return { kind: 'reset' };
    default:
      return kind satisfies never;
  }
}

const whole = (response: PlainResponse): Delivery => ({ kind: 'whole', response });

/** What the sandbox can do to a page of records, so that the list is wrong even though no request failed. */
export const anomalyKinds = [
  /** Just before the page is read, a file is renamed, and so moves in the order of paths. Files only. */
  'rename',
  /** The page has no rows, and a new cursor. Files only. */
  'empty-page',
  /** The page begins with the last row of the previous page. Files only. */
  'repeat',
  /** A row of the page is missing from this response, as if it were being updated; the total counts it. */
  'vanish',
] as const;

/** The name of an anomaly. */
export type AnomalyKind = (typeof anomalyKinds)[number];

/**
 * Returns the fault, or the anomaly, of request `number` (1 is the first): the planned one or, with the probability
 * `share`, a random one. Undefined if the request gets none. The same arguments always have the same result.
 */
export function kindFor<Kind extends string>(
  stream: 'fault' | 'anomaly',
  { seed, number }: { readonly seed: number; readonly number: number },
  options: {
    readonly share: number;
    readonly kinds: readonly Kind[];
    readonly planned: Readonly<Record<string, Kind>>;
  },
): Kind | undefined {
  const { share, kinds, planned } = options;
  if (planned[number] !== undefined) return planned[number];
  if (drawFor(seed, stream, number) >= share) return undefined;
  return randomFor(seed, `${stream} kind`, number).pick(kinds);
}

/**
 * What an error response is built from. `number`: the number of the request; the error's reference is computed from
 * `number` and `seed`.
 */
export type ErrorContext = {
  readonly seed: number;
  readonly number: number;
  readonly path: string;
  readonly operation: string | undefined;
  readonly errors: ErrorShapes;
};

/** An error response in the shape that the operation has for this status. */
export function errorResponse(context: ErrorContext, status: number, message: string): PlainResponse {
  const { usual, forbidden } = context.errors;
  const shape = status === 403 ? forbidden : usual;
  if (status === 401 || shape === 'PlatformError') return platformErrorResponse(context, status, message);
  if (shape === 'CodeError') return jsonResponse({ errorCode: `E${status}`, errorMessage: message }, status);
  return jsonResponse(shape === 'TextError' ? message : { message }, status);
}

/** The platform's usual error body. `toe` is its reference, such as `D2RFR14QKK-0FWIV-QTGGZ`. */
function platformErrorResponse(context: ErrorContext, status: number, message: string): PlainResponse {
  const body = {
    status,
    statusReason: STATUS_CODES[status] ?? 'Unknown',
    path: context.path,
    message,
    toe: errorReference(context.seed, context.number),
  };
  return jsonResponse(body, status);
}

function errorReference(seed: number, number: number): string {
  const random = randomFor(seed, 'toe', number);
  const part = (length: number) => Array.from({ length }, () => random.pick([...TOE_LETTERS])).join('');
  return `${part(10)}-${part(5)}-${part(5)}`;
}

const TOE_LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/**
 * The shapes of error bodies: `{status, statusReason, path, message, toe}`, `{errorCode, errorMessage}`,
 * `{message}`, or a bare JSON string.
 */
const errorShapes = ['PlatformError', 'CodeError', 'MessageError', 'TextError'] as const;

/** The shapes of an operation's errors. A 401 is a `PlatformError` everywhere. */
type ErrorShapes = {
  readonly usual: (typeof errorShapes)[number];
  readonly forbidden: (typeof errorShapes)[number];
};

/** The error shapes of most operations. */
export const usualErrors: ErrorShapes = { usual: 'PlatformError', forbidden: 'PlatformError' };

/** A response before it becomes bytes on a connection. */
export type PlainResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer>;
};

/** A JSON response; bigints are printed as integers with all their digits. */
function jsonResponse(value: unknown, status = 200): PlainResponse {
  return jsonTextResponse(printJson(value), status);
}

function jsonTextResponse(body: string | Uint8Array<ArrayBuffer>, status = 200): PlainResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body };
}

function htmlResponse(title: string, status = 200): PlainResponse {
  const body = `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body };
}
