import type { Operation, OperationContext, RawInput } from '../operations/operation.ts';
import { type ErrorContext, errorResponse } from './error-response.ts';
import { jsonTextResponse, type PlainResponse } from './plain-response.ts';
import { readJsonBody, readQuery } from './read-request.ts';

/** One request to a path under `/api/`, as the router matched it. */
export type ApiRequest = {
  readonly request: Request;
  /** Undefined if no operation has this path. */
  readonly operation: Operation | undefined;
  readonly path: Readonly<Record<string, string>>;
};

/** What the operations need. */
export type Backend = Omit<OperationContext, 'number'> & {
  /** The token that is accepted now; it can be revoked while the server runs. */
  readonly token: () => string;
};

/** Checks the token, the path, the method and the permissions, then does the work. */
export async function perform(
  api: ApiRequest,
  context: ErrorContext,
  backend: Backend,
): Promise<PlainResponse> {
  const { request, operation, path } = api;
  const { options } = backend;
  if (request.headers.get(options.tokenHeader) !== backend.token()) {
    return errorResponse(context, 401, 'The developer token is missing, unknown or revoked');
  }
  if (operation === undefined) return errorResponse(context, 404, 'There is no such path');
  if (!operation.methods.includes(request.method)) {
    const response = errorResponse(context, 405, `${request.method} is not allowed here`);
    return { ...response, headers: { ...response.headers, allow: operation.methods.join(', ') } };
  }
  const names = [operation.endpoint.name, ...Object.values(path)];
  if (names.some((name) => options.forbidden.includes(name))) {
    return errorResponse(context, 403, 'The token does not permit this');
  }
  return operate(operation, api, context, backend);
}

async function operate(
  operation: Operation,
  { request, path }: ApiRequest,
  context: ErrorContext,
  backend: Backend,
): Promise<PlainResponse> {
  const body =
    request.method === 'GET' ? undefined : await readJsonBody(request, backend.options.maxBodyBytes);
  if (body?.kind === 'wrong') return errorResponse(context, body.status, body.message);
  const types = operation.queryTypes();
  const raw: RawInput = {
    ...(Object.keys(path).length === 0 ? {} : { path }),
    ...(Object.keys(types).length === 0
      ? {}
      : { query: readQuery(new URL(request.url).searchParams, types) }),
    ...(body === undefined ? {} : { body: body.value }),
  };
  try {
    const result = await operation.respond(raw, { ...backend, number: context.number });
    if (result.kind === 'refused') return errorResponse(context, result.status, result.message);
    return jsonTextResponse(result.body);
  } catch (error) {
    // A bug in the sandbox itself: the message must distinguish it from an injected fault.
    return errorResponse(
      context,
      500,
      `the sandbox failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}
