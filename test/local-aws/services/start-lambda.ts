import { type JsonRequest, refusal, startJsonServer, unknownOperation } from './json-server.ts';
import type { LoopbackServer } from './loopback-server.ts';

/** A requested invocation. `function` is the name or ARN in the request, with its version or alias. */
type LambdaRequest = {
  readonly function: string;
  readonly invocationType: string;
  /** The name of the durable execution; undefined if none was given. */
  readonly name: string | undefined;
  readonly input: unknown;
};

/** A stand-in for Lambda that starts durable executions without running them. Set `AWS_ENDPOINT_URL_LAMBDA` to its endpoint. */
export type LocalLambda = LoopbackServer & {
  /** All requests so far, including refused ones. */
  readonly requests: readonly LambdaRequest[];
  /** The inputs of the executions by name. Repeated requests do not add another one. */
  readonly executions: ReadonlyMap<string, unknown>;
};

/** A version or an alias at the end of a function's name or ARN. */
const QUALIFIED = /^(?:arn:aws:lambda:[^:]+:\d{12}:function:)?([A-Za-z0-9_-]+):[A-Za-z0-9_$-]+$/;

/** Starts a stand-in for Lambda with durable functions that have these names. */
export async function startLambda(functions: readonly string[]): Promise<LocalLambda> {
  const requests: LambdaRequest[] = [];
  const executions = new Map<string, unknown>();
  const server = await startJsonServer((request) => {
    if (request.url.pathname === '/2016-08-19/account-settings')
      return { status: 200, body: { AccountLimit: { ConcurrentExecutions: 10 } } };
    const invocation = invocationIn(request);
    if (invocation === undefined) return unknownOperation(request);
    requests.push(invocation);
    const { name, input, invocationType } = invocation;
    const [, called] = QUALIFIED.exec(invocation.function) ?? [];
    if (called === undefined)
      return refusal('InvalidParameterValueException', 'A durable function needs a qualifier.');
    if (!functions.includes(called))
      return refusal('ResourceNotFoundException', `Function not found: ${invocation.function}`, 404);
    if (invocationType !== 'Event' || name === undefined || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
      return refusal('InvalidParameterValueException', 'Expected an event and a name.');
    if (executions.has(name) && JSON.stringify(executions.get(name)) !== JSON.stringify(input))
      return refusal('DurableExecutionAlreadyStartedException', `${name} has been started.`, 409);
    executions.set(name, input);
    return { status: 202, body: {} };
  });
  return { ...server, requests, executions };
}

function invocationIn({ method, url, headers, body }: JsonRequest): LambdaRequest | undefined {
  const [, named] = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/.exec(url.pathname) ?? [];
  if (method !== 'POST' || named === undefined) return undefined;
  const qualifier = url.searchParams.get('Qualifier');
  const name = headers['x-amz-durable-execution-name'];
  return {
    function: decodeURIComponent(named) + (qualifier === null ? '' : `:${qualifier}`),
    invocationType: String(headers['x-amz-invocation-type'] ?? 'RequestResponse'),
    name: name === undefined ? undefined : String(name),
    input: body,
  };
}
