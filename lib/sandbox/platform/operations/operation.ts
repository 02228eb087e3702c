import * as z from 'zod/mini';
import type { Endpoint, EndpointInput } from '../../../platform/index.ts';
import type { PlatformCounter } from '../counts.ts';
import type { RunFunction } from '../functions/run-function.ts';
import { checkInput } from '../http/read-request.ts';
import { type ErrorShapes, usualErrors } from '../http/responses.ts';
import type { ResolvedAppOptions } from '../options.ts';
import type { PlatformState } from '../state.ts';

/** What an operation needs. */
export type OperationContext = {
  readonly state: PlatformState;
  readonly options: ResolvedAppOptions;
  readonly counter: PlatformCounter;
  readonly runCodeFunction: RunFunction;
  /** The number of the request, 1 is the first: random draws follow from it. */
  readonly number: number;
};

export type OperationResult =
  /** 200, with JSON that is already printed, as text or UTF-8. */
  | { readonly kind: 'ok'; readonly body: string | Uint8Array<ArrayBuffer> }
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404; readonly message: string };

/** Path, query and body as received: typed, but not checked. */
export type RawInput = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** An endpoint of the contract, and how the sandbox responds to it. */
export type Operation<Input extends EndpointInput = EndpointInput, Output = unknown> = {
  readonly endpoint: Pick<Endpoint<Input, Output>, 'name' | 'method' | 'path' | 'input' | 'output'>;
  /** The methods that it accepts; the endpoint's own comes first. */
  readonly methods: readonly string[];
  /** The JSON type of each query value, by name. */
  readonly queryTypes: () => Readonly<Record<string, string>>;
  readonly respond: (raw: RawInput, context: OperationContext) => Promise<OperationResult>;
  readonly errors: ErrorShapes;
};

export type OperationOptions = {
  /** Default: the platform's usual shapes. */
  readonly errors?: ErrorShapes;
  /** Methods that the platform accepts in practice, besides the endpoint's own. */
  readonly otherMethods?: readonly string[];
  /** Changes input that the platform tolerates in practice so that it fits the schema. Runs before the check. */
  readonly tolerate?: (raw: RawInput) => RawInput;
};

/** Connects an endpoint to its handler: `handle` gets input that the endpoint's own schema has checked. */
export function operation<Input extends EndpointInput, Output>(
  endpoint: Endpoint<Input, Output>,
  handle: (
    input: Input,
    context: OperationContext,
    raw: RawInput,
  ) => OperationResult | Promise<OperationResult>,
  options: OperationOptions = {},
): Operation<Input, Output> {
  const { otherMethods = [], tolerate = (raw) => raw } = options;
  let queryTypes: Readonly<Record<string, string>> | undefined;
  return {
    endpoint,
    methods: [endpoint.method, ...otherMethods],
    errors: options.errors ?? usualErrors,
    queryTypes: () => {
      queryTypes ??= queryTypesOf(endpoint.input);
      return queryTypes;
    },
    async respond(raw, context) {
      const checked = checkInput(endpoint, tolerate(raw));
      if (checked.kind === 'wrong') return refused(400, checked.message);
      return handle(checked.value, context, raw);
    },
  };
}

/** The types that the schema of an operation's input gives its query. */
function queryTypesOf(input: z.ZodMiniType): Readonly<Record<string, string>> {
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const query = schema.properties?.['query'];
  const properties = typeof query === 'object' ? (query.properties ?? {}) : {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [
      name,
      typeof each === 'object' ? String(each.type ?? '') : '',
    ]),
  );
}

export function refused(status: 400 | 403 | 404, message: string): OperationResult {
  return { kind: 'refused', status, message };
}

export function ok(body: string | Uint8Array<ArrayBuffer>): OperationResult {
  return { kind: 'ok', body };
}
