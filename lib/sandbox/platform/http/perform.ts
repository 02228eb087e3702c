import type { Operation, OperationContext, RawInput } from '../operations/operation.ts';
import { type Answer, jsonTextAnswer } from './answer.ts';
import { type ErrorContext, errorAnswer } from './error-answers.ts';
import { readJsonBody, readQuery } from './read-request.ts';

/** One request to a path under `/api/`, as the router found it. */
export type ApiRequest = {
  readonly request: Request;
  /** Undefined where no operation has this path. */
  readonly operation: Operation | undefined;
  readonly path: Readonly<Record<string, string>>;
};

/** What the work is done with. */
export type Workplace = Omit<OperationContext, 'number'> & {
  /** The token that is accepted now: it can be revoked while the server runs. */
  readonly token: () => string;
};

/** Checks the token, the path, the method and the rights, and then does the work. */
export async function perform(api: ApiRequest, context: ErrorContext, workplace: Workplace): Promise<Answer> {
  const { request, operation, path } = api;
  const { options } = workplace;
  if (request.headers.get(options.tokenHeader) !== workplace.token()) {
    return errorAnswer(context, 401, 'The developer token is missing, unknown or revoked');
  }
  if (operation === undefined) return errorAnswer(context, 404, 'There is no such path');
  if (!operation.methods.includes(request.method)) {
    const answer = errorAnswer(context, 405, `${request.method} is not allowed here`);
    return { ...answer, headers: { ...answer.headers, allow: operation.methods.join(', ') } };
  }
  const names = [operation.endpoint.name, ...Object.values(path)];
  if (names.some((name) => options.forbidden.includes(name))) {
    return errorAnswer(context, 403, 'The token has no right to this');
  }
  return operate(operation, api, context, workplace);
}

async function operate(
  operation: Operation,
  { request, path }: ApiRequest,
  context: ErrorContext,
  workplace: Workplace,
): Promise<Answer> {
  const body =
    request.method === 'GET' ? undefined : await readJsonBody(request, workplace.options.maxBodyBytes);
  if (body?.kind === 'wrong') return errorAnswer(context, body.status, body.message);
  const types = operation.queryTypes();
  const raw: RawInput = {
    ...(Object.keys(path).length === 0 ? {} : { path }),
    ...(Object.keys(types).length === 0
      ? {}
      : { query: readQuery(new URL(request.url).searchParams, types) }),
    ...(body === undefined ? {} : { body: body.value }),
  };
  try {
    const result = await operation.answer(raw, { ...workplace, number: context.number });
    if (result.kind === 'refused') return errorAnswer(context, result.status, result.message);
    return jsonTextAnswer(result.body);
  } catch (error) {
    // A fault of the sandbox itself: whoever sees it must be able to tell it from one that was asked for.
    return errorAnswer(
      context,
      500,
      `the sandbox failed: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}
