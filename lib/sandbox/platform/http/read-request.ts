import * as z from 'zod/mini';
import { faultsOf } from '../../../base/index.ts';
import { parseJson } from '../../../base/json/index.ts';
import type { Endpoint, EndpointInput } from '../../../platform/index.ts';

type WrongRequest = { readonly kind: 'wrong'; readonly status: 400 | 413; readonly message: string };

type BodyRead = { readonly kind: 'body'; readonly value: unknown } | WrongRequest;

export async function readJsonBody(request: Request, maxBytes: number): Promise<BodyRead> {
  const tooLarge: WrongRequest = {
    kind: 'wrong',
    status: 413,
    message: `the body is larger than ${maxBytes} bytes`,
  };
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return tooLarge;
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of request.body ?? []) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) return tooLarge;
    chunks.push(chunk);
  }
  try {
    return { kind: 'body', value: parseJson(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { kind: 'wrong', status: 400, message: 'the body is not JSON' };
  }
}

/** Query values with the types that the operation declares; unknown names are left out. */
export function readQuery(
  search: URLSearchParams,
  types: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  for (const [name, type] of Object.entries(types)) {
    const text = search.get(name);
    if (text !== null) query[name] = typedValue(text, type);
  }
  return query;
}

function typedValue(text: string, type: string): unknown {
  if (type === 'boolean' && /^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  return (type === 'number' || type === 'integer') && /^-?\d+$/.test(text) ? Number(text) : text;
}

export function checkInput<Input extends EndpointInput>(
  endpoint: Endpoint<Input>,
  input: unknown,
): { readonly kind: 'input'; readonly value: Input } | WrongRequest {
  const result = z.safeParse(endpoint.input, input);
  if (result.success) return { kind: 'input', value: result.data };
  return { kind: 'wrong', status: 400, message: faultsOf(result.error, input).join('; ') };
}
