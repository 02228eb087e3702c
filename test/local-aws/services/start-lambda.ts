import type { IncomingMessage } from 'node:http';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** An invocation as requested; `function` is the name or ARN that the caller gave, with its version or alias. */
type LambdaRequest = {
  readonly function: string;
  readonly invocationType: string;
  /** The name of the durable execution; undefined if none was given. */
  readonly name: string | undefined;
  readonly input: unknown;
};

/** `error` is the type of an error response. */
type LambdaResponse =
  | { readonly status: 202 }
  | { readonly status: number; readonly error: string; readonly message: string };

/** A stand-in for Lambda: the start of durable executions, which are not run. */
export type Lambda = {
  /** All requests so far, refused or not. */
  readonly requests: readonly LambdaRequest[];
  /** The inputs of the executions by name: one for each, however often it was requested. */
  readonly executions: ReadonlyMap<string, unknown>;
  respond(request: LambdaRequest): LambdaResponse;
};

/** A version or an alias at the end of a function's name or ARN. */
const QUALIFIED = /^(?:arn:aws:lambda:[^:]+:\d{12}:function:)?([A-Za-z0-9_-]+):[A-Za-z0-9_$-]+$/;

/** Lambda without a connection, with durable functions that have these names. */
function createLambda(functions: readonly string[]): Lambda {
  const requests: LambdaRequest[] = [];
  const executions = new Map<string, unknown>();
  return {
    requests,
    executions,
    respond(request) {
      requests.push(request);
      const { name, input, invocationType } = request;
      const [, called] = QUALIFIED.exec(request.function) ?? [];
      if (called === undefined)
        return refusal(400, 'InvalidParameterValueException', 'A durable function needs a qualifier.');
      if (!functions.includes(called))
        return refusal(404, 'ResourceNotFoundException', `Function not found: ${request.function}`);
      if (invocationType !== 'Event' || name === undefined || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
        return refusal(400, 'InvalidParameterValueException', 'Expected an event and a name.');
      if (executions.has(name) && JSON.stringify(executions.get(name)) !== JSON.stringify(input))
        return refusal(409, 'DurableExecutionAlreadyStartedException', `${name} has been started.`);
      executions.set(name, input);
      return { status: 202 };
    },
  };
}

const refusal = (status: number, error: string, message: string): LambdaResponse => ({
  status,
  error,
  message,
});

/** Set `AWS_ENDPOINT_URL_LAMBDA` to its endpoint. */
export type LocalLambda = Lambda & LoopbackServer;

/** Lambda's protocol (REST, JSON) on a free port of loopback; nothing remains after `close`. */
export async function startLambda(functions: readonly string[]): Promise<LocalLambda> {
  const lambda = createLambda(functions);
  const server = await startLoopbackServer(async (request, response) => {
    const invocation = await readInvocation(request);
    const result =
      invocation === undefined
        ? refusal(404, 'UnknownOperationException', `${request.method} ${request.url}`)
        : lambda.respond(invocation);
    if (!('error' in result)) return response.writeHead(result.status).end();
    response.writeHead(result.status, {
      'content-type': 'application/json',
      'x-amzn-errortype': result.error,
    });
    return response.end(JSON.stringify({ Type: 'User', Message: result.message }));
  });
  return { ...lambda, ...server };
}

async function readInvocation(request: IncomingMessage): Promise<LambdaRequest | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const url = new URL(request.url ?? '/', 'http://localhost');
  const [, named] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(url.pathname) ?? [];
  if (request.method !== 'POST' || named === undefined) return undefined;
  const qualifier = url.searchParams.get('Qualifier');
  const name = request.headers['x-amz-durable-execution-name'];
  return {
    function: decodeURIComponent(named) + (qualifier === null ? '' : `:${qualifier}`),
    invocationType: String(request.headers['x-amz-invocation-type'] ?? 'RequestResponse'),
    name: name === undefined ? undefined : String(name),
    input: JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null'),
  };
}
