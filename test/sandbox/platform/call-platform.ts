import { parseJson } from '../../../lib/base/json/json.ts';
import { checkOptions, type PlatformOptions } from '../../../lib/sandbox/platform/options.ts';
import { createPlatformApp } from '../../../lib/sandbox/platform/start-platform.ts';
import { createPlatformState } from '../../../lib/sandbox/platform/state.ts';

/** Options with few records, so that a test takes milliseconds, and with a fixed clock. */
export const small = {
  calculations: 400,
  datasets: 12,
  cards: 150,
  fileSets: 2,
  filesPerSet: 600,
  dataFiles: 6,
  now: () => Date.UTC(2026, 10, 21),
} satisfies PlatformOptions;

export const smallPlatform = (options: PlatformOptions = {}) =>
  createPlatformApp(checkOptions({ ...small, ...options }));

/** The state of a platform with these options. */
export const stateOf = (options: PlatformOptions = {}) => createPlatformState(checkOptions(options));

export type PlatformApp = ReturnType<typeof smallPlatform>;

export type Called = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON with all digits, or undefined if it is not JSON. */
  readonly json: unknown;
};

export type Call = {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends one request to a platform that has no server. */
export async function call(
  platform: Pick<PlatformApp, 'fetch' | 'token'>,
  { method, path, body, headers }: Call,
): Promise<Called> {
  const request = new Request(`http://sandbox.test${path}`, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'x-service-developer-token': platform.token, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return read(await platform.fetch(request));
}

async function read(response: Response): Promise<Called> {
  const text = await response.text();
  const { status, headers } = response;
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status, headers, text, json: isJson ? parseJson(text) : undefined };
}

export type CalculationsPage = {
  readonly totalHits: number;
  readonly results: readonly {
    readonly id: number | bigint;
    readonly name: string;
    readonly [field: string]: unknown;
  }[];
  readonly hasMore: boolean;
  readonly degraded: boolean;
};

/** Searches calculations. Default: all of them, ordered by id. */
export async function search(
  platform: PlatformApp,
  body: Readonly<Record<string, unknown>> = {},
): Promise<CalculationsPage> {
  const whole = { filters: [], sort: { field: 'id', ascending: true }, limit: 5000, ...body };
  const { json } = await call(platform, { path: '/api/query/v1/functions/search', body: whole });
  return json as CalculationsPage;
}
