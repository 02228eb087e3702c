import * as z from 'zod/mini';
import { faultsOf } from '../../../base/index.ts';
import type { Endpoint, EndpointInput } from '../../../platform/index.ts';
import type { PlatformCounter } from '../counts.ts';
import type { RunFunction } from '../functions/run-function.ts';
import { type Oddity, usualErrors } from '../http/faults.ts';
import type { ResolvedOptions } from '../options.ts';
import type { PlatformState } from '../state.ts';

/** What a handler needs besides its input. `number` is the number of the request; 1 is the first. */
export type OperationContext = {
  readonly state: PlatformState;
  readonly options: ResolvedOptions;
  readonly counter: PlatformCounter;
  readonly runCodeFunction: RunFunction;
  readonly number: number;
};

type OperationResult =
  | { readonly kind: 'ok'; readonly body: string | Uint8Array<ArrayBuffer> }
  | { readonly kind: 'refused'; readonly status: 400 | 403 | 404 | 410; readonly message: string };

/** Path, query and body before the schema checks them. Query values are already numbers and booleans where declared. */
export type RawInput = {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
};

/** An endpoint of the contract, and how the sandbox responds to it. */
export type Operation<Input extends EndpointInput = EndpointInput, Output = unknown> = {
  readonly endpoint: Pick<Endpoint<Input, Output>, 'name' | 'method' | 'path' | 'input'>;
  readonly methods: readonly string[];
  /** The JSON type of each query parameter, such as `integer`; '' if it has no single type. */
  readonly queryTypes: () => Readonly<Record<string, string>>;
  readonly respond: (raw: RawInput, context: OperationContext) => Promise<OperationResult>;
  readonly errors: typeof usualErrors;
  readonly oddity: (raw: RawInput) => Oddity;
};

/** Connects an endpoint to its handler: `handle` gets input that the endpoint's own schema has checked. */
export function operation<Input extends EndpointInput, Output>(
  endpoint: Endpoint<Input, Output>,
  handle: (
    input: Input,
    context: OperationContext,
    raw: RawInput,
  ) => OperationResult | Promise<OperationResult>,
  options: {
    /** The response fields that callers act on. The option `odd` varies their form, but never their meaning. */
    readonly oddity: Oddity | ((raw: RawInput) => Oddity);
    readonly errors?: typeof usualErrors;
    /** Methods that the platform accepts in practice, besides the endpoint's own. */
    readonly otherMethods?: readonly string[];
    /** Changes the input before it is checked, where the platform accepts more than the schema. */
    readonly tolerate?: (raw: RawInput) => RawInput;
  },
): Operation<Input, Output> {
  const { oddity, otherMethods = [], tolerate = (raw) => raw } = options;
  let queryTypes: Readonly<Record<string, string>> | undefined;
  return {
    endpoint,
    methods: [endpoint.method, ...otherMethods],
    errors: options.errors ?? usualErrors,
    oddity: typeof oddity === 'function' ? oddity : () => oddity,
    queryTypes: () => {
      queryTypes ??= queryTypesOf(endpoint.input);
      return queryTypes;
    },
    async respond(raw, context) {
      const input = tolerate(raw);
      const checked = z.safeParse(endpoint.input, input);
      if (!checked.success) return refused(400, faultsOf(checked.error, input).join('; '));
      return handle(checked.data, context, raw);
    },
  };
}

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

/** The result of a refused request: `status` and `message` of its error response. */
export function refused(status: 400 | 403 | 404 | 410, message: string): OperationResult {
  return { kind: 'refused', status, message };
}

/** The result with a response body, which is JSON. */
export function ok(body: string | Uint8Array<ArrayBuffer>): OperationResult {
  return { kind: 'ok', body };
}
