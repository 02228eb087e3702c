import * as z from 'zod/mini';
import { faultsOf } from '../../json/faults.ts';
import type { McpContext } from './context.ts';

/** What a call of a tool works with. `signal` is aborted when the client cancels the call or is gone. */
export type ToolCall = McpContext & { readonly signal: AbortSignal };

/** A tool cannot do what was asked; the message says why, and what to do. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** What a call of the tool may do, as the protocol names it. */
type Annotations = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
};

/** Reads the store and nothing else: no request to the platform. */
export const READS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Sends jobs, which may change what the platform has; the same call again sends nothing. */
export const SENDS: Annotations = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: true,
};

type JsonSchema = Record<string, unknown>;

/** A tool, whatever its arguments are. */
export type Tool = {
  readonly title: string;
  readonly description: string;
  readonly annotations: Annotations;
  readonly inputSchema: () => JsonSchema;
  readonly outputSchema: () => JsonSchema;
  /** Checks the arguments and does what they ask for. Throws `ToolError`, or what the store throws. */
  readonly call: (given: unknown, call: ToolCall) => Promise<Record<string, unknown>>;
};

type ToolParts<I extends z.ZodMiniType, O extends z.ZodMiniType<Record<string, unknown>>> = Pick<
  Tool,
  'title' | 'description' | 'annotations'
> & {
  readonly input: I;
  readonly output: O;
  readonly run: (args: z.output<I>, call: ToolCall) => Promise<z.output<O>>;
};

/** Makes a tool of its schemas and of what it does. */
export function defineTool<I extends z.ZodMiniType, O extends z.ZodMiniType<Record<string, unknown>>>(
  parts: ToolParts<I, O>,
): Tool {
  const { title, description, annotations, input, output, run } = parts;
  return {
    title,
    description,
    annotations,
    inputSchema: () => jsonSchemaOf(input, 'input'),
    outputSchema: () => jsonSchemaOf(output, 'output'),
    async call(given, call) {
      const checked = input.safeParse(given ?? {});
      if (checked.success) return await run(checked.data, call);
      const faults = faultsOf(checked.error, given, { most: MOST_FAULTS }).map((fault) =>
        fault.replace(/^: /, 'arguments: '),
      );
      throw new ToolError(`wrong arguments:\n${faults.join('\n')}`);
    },
  };
}

const MOST_FAULTS = 20;

function jsonSchemaOf(schema: z.ZodMiniType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return converted;
}
