import { createCall } from '../../lib/platform/call.ts';
import { createTransport } from '../../lib/platform/http/transport.ts';
import { defaultRetryLimits } from '../../lib/platform/retry.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { calculationPageReader } from '../../lib/snapshot/sources/calculations/pages.ts';
import { cardsScan } from '../../lib/snapshot/sources/cards/scan.ts';
import { filePageReader } from '../../lib/snapshot/sources/files/pages.ts';
import { ownPeakMb } from '../own-peak.ts';
import { createFakePace } from '../pace/fake-pace.ts';
import { fromBeginning } from '../snapshot/scanned.ts';

/* Reads one response of many megabytes (`argv`: its kind, and how many), and prints how that ended and the most memory, in MB. */

const SIZE_BYTES = Number(process.argv[3]) * 1_000_000;

/** `before`, as many elements as there is room for, and `after`. */
function filled(before: string, element: (at: number) => string, after: string): Buffer {
  const body = Buffer.allocUnsafeSlow(SIZE_BYTES);
  let end = body.write(before);
  for (let at = 1; end < SIZE_BYTES - 100; at += 1) {
    end += body.write(`${at === 1 ? '' : ','}${element(at)}`, end);
  }
  end += body.write(after, end);
  return body.subarray(0, end);
}

const name = (at: number) => `"field-${at}-of-many-others":1`;
const filesetId = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';

const bodies: Readonly<Record<string, () => Buffer>> = {
  'calculations names': () => filled('{"results":[{"id":1,', name, '}]}'),
  'calculations tiny': () => filled('{"results":[', (at) => `{"id":${at}}`, ']}'),
  'calculations head': () => filled('{"results":[],"x":[', () => '{}', ']}'),
  'cards tiny': () => filled('[', (at) => `{"id":${at}}`, ']'),
  'cards names': () => filled('[{"id":1,', name, '}]'),
  'files tiny': () => filled('{"files":[', (at) => `{"id":"${at}"}`, ']}'),
  'files names': () => filled('{"files":[{"id":"1",', name, '}]}'),
};

const kind = process.argv[2] ?? '';
const body = bodies[kind]?.() ?? Buffer.alloc(0);
const call = createCall({
  send: createTransport({
    baseUrl: new URL('https://platform.invalid'),
    tokenHeader: 'x-token',
    maxResponseBytes: SIZE_BYTES,
    exchange: async () => ({
      status: 200,
      headers: { 'content-type': 'application/json', 'content-length': String(body.byteLength) },
      body: Object.assign(pieces(), { destroy: () => undefined }),
    }),
    now: Date.now,
  }),
  token: fixedToken('token'),
  pace: createFakePace(),
  observe: () => undefined,
  limits: defaultRetryLimits,
  timeoutMs: 60_000,
  now: () => performance.now(),
  sleep: async () => undefined,
  random: () => 0.5,
});

async function* pieces() {
  for (let at = 0; at < body.byteLength; at += 65_536) yield body.subarray(at, at + 65_536);
}

async function read(): Promise<unknown> {
  if (kind.startsWith('cards')) {
    return cardsScan({ call, datasetIds: ['a'], drill: true })(fromBeginning).next();
  }
  if (kind.startsWith('files')) return filePageReader(call, {})({ filesetId, next: null });
  return calculationPageReader(call)({ ascending: true, offset: 0, limit: 5_000 });
}

const message = await read().then(
  () => 'read',
  (error: unknown) => String(error),
);
const peakMb = Math.round(ownPeakMb());
process.stdout.write(JSON.stringify({ message, peakMb }));
