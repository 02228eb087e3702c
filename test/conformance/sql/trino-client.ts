import { setTimeout as delay } from 'node:timers/promises';
import { parseExact } from '../../../lib/base/json/json.ts';

/** A type in Trino's protocol. `array`, `map`, `row` and `varchar` have arguments. */
export type TrinoType = {
  readonly rawType: string;
  readonly arguments: readonly { readonly kind: string; readonly value: unknown }[];
};

export type TrinoResult = {
  readonly columns: readonly { readonly name: string; readonly type: TrinoType }[];
  /** Values as in Trino's protocol, with numbers as `ExactNumber`. */
  readonly rows: readonly (readonly unknown[])[];
};

type Response = {
  readonly nextUri?: string;
  readonly columns?: readonly { readonly name: string; readonly typeSignature: TrinoType }[];
  readonly data?: readonly (readonly unknown[])[];
  readonly error?: { readonly message: string; readonly errorName: string };
};

const POLL_MS = 20;

/** Runs one statement, in a schema of the tables' catalog. Throws with Trino's message if it fails. */
export async function runTrino(endpoint: string, sql: string, schema?: string): Promise<TrinoResult> {
  const headers = {
    'X-Trino-User': 'conformance',
    'X-Trino-Time-Zone': 'UTC',
    ...(schema === undefined ? {} : { 'X-Trino-Catalog': 'awsdatacatalog', 'X-Trino-Schema': schema }),
  };
  const rows: (readonly unknown[])[] = [];
  let columns: Response['columns'];
  let response = await send(`${endpoint}/v1/statement`, { method: 'POST', body: sql, headers });
  for (;;) {
    if (response.error !== undefined)
      throw new Error(`${response.error.errorName}: ${response.error.message}: ${sql}`);
    columns ??= response.columns;
    rows.push(...(response.data ?? []));
    if (response.nextUri === undefined) break;
    if (response.data === undefined) await delay(POLL_MS);
    response = await send(response.nextUri, { headers });
  }
  return { columns: (columns ?? []).map(({ name, typeSignature }) => ({ name, type: typeSignature })), rows };
}

async function send(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.status === 503) {
    await delay(POLL_MS);
    return send(url, init);
  }
  if (!response.ok) throw new Error(`Trino responded with ${response.status}: ${await response.text()}`);
  return parseExact(await response.text()) as Response;
}

/** Waits until Trino can run statements, which is later than its first response. */
export async function untilReady(endpoint: string): Promise<void> {
  for (;;) {
    const info = await fetch(`${endpoint}/v1/info`).then((response) => response.json());
    if ((info as { readonly starting: boolean }).starting === false) return;
    await delay(1_000);
  }
}
