import type { createExchange } from '../../lib/platform/http/exchange.ts';

/** A response of any size: the text before its elements, each element, and the text after them. */
export type LargeResponse = {
  readonly before: string;
  /** `at`: 1 is the first. */
  readonly element: (at: number) => string;
  readonly after: string;
};

const list = (element: LargeResponse['element']): LargeResponse => ({ before: '[', element, after: ']' });
const name = (at: number) => `"field-${at}-of-many-others":1`;

/** A card of about 300 bytes, as a platform sends it. */
const card = (at: number) =>
  `{"id":${at},"urn":"${at}","type":"kpi","chartType":"badge_vert_bar","title":"Sales by region ${at}","ownerId":27,` +
  `"owners":[{"id":"27","type":"USER","displayName":"Ada Lovelace"},{"id":"28","type":"GROUP","displayName":"Finance"}],` +
  `"access":true,"datasourceId":"6a4b2f0e-1a2b-4c3d-8e9f-0a1b2c3d4e5f"}`;

/** A file of about 500 bytes. */
const file = (at: number) =>
  `{"id":"0d5d6f3e-41c5-4f0c-9b3c-${String(at).padStart(12, '0')}","path":"/finance/2026/report-${at}.pdf","name":"report-${at}.pdf",` +
  `"fileType":"DOCUMENT","contentType":"application/pdf","size":${at},"created":"2025-01-01T00:00:00Z","createdBy":27,` +
  `"hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","hashAlgorithm":"SHA_256_HEX",` +
  `"downloadUrl":"https://files.example/${at}","connectorKey":null,"indexStatus":"COMPLETED","indexReason":null}`;

/** Responses that a platform, or an attacker in its place, may send, by operation and kind. */
export const largeResponses = {
  'calculations names': { before: '{"results":[{"id":1,', element: name, after: '}]}' },
  'calculations tiny': { before: '{"results":[', element: (at) => `{"id":${at}}`, after: ']}' },
  'calculations head': { before: '{"results":[],"x":[', element: () => '{}', after: ']}' },
  'cards many': list(card),
  'cards unordered': list((at) => card((at * 7_919) % 1_000_003)),
  'cards tiny': list((at) => `{"id":${at}}`),
  'cards names': { before: '[{"id":1,', element: name, after: '}]' },
  'files many': { before: '{"files":[', element: file, after: '],"pageContext":{"next":null}}' },
  'files tiny': {
    before: '{"files":[',
    element: (at) => `{"id":"${at}"}`,
    after: '],"pageContext":{"next":null}}',
  },
  'files names': { before: '{"files":[{"id":"1",', element: name, after: '}],"pageContext":{}}' },
  'data-files many': {
    before: '{"dataFileId":7,"name":"n","revisions":[',
    element: (at) => `{"dataFileRevisionId":${at},"dataFileId":7,"contentType":"text/csv","sizeBytes":${at}}`,
    after: ']}',
  },
} as const satisfies Readonly<Record<string, LargeResponse>>;

export type LargeKind = keyof typeof largeResponses;

const PIECE_BYTES = 65_536;

/** Responds to each request with as many elements as fit, piece by piece, so that memory never holds the response. */
export const respondWith =
  (large: LargeResponse, sizeBytes: number): ReturnType<typeof createExchange> =>
  async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Object.assign(piecesOf(large, sizeBytes), { destroy: () => undefined }),
  });

async function* piecesOf({ before, element, after }: LargeResponse, sizeBytes: number) {
  let text = before;
  let sent = 0;
  for (let at = 1; sent + text.length < sizeBytes - 1_000; at += 1) {
    text += `${at === 1 ? '' : ','}${element(at)}`;
    if (text.length < PIECE_BYTES) continue;
    sent += text.length;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text + after);
}
