import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from '../../../lib/report/mcp/serve.ts';
import type { McpContext, Tool } from '../../../lib/report/mcp/tool.ts';
import type { Store } from '../../../lib/store/store.ts';

/** A context with only a store, without a table or DuckDB unless `given` has them. */
export const contextOver = (store: Store, given: Partial<McpContext> = {}): McpContext => ({
  store: async () => store,
  tables: () => Promise.reject(new Error('no SQL here')),
  ledger: async () => undefined,
  adviceOn: () => undefined,
  hide: (text) => text,
  now: () => Date.parse('2026-11-20T09:00:00Z'),
  ...given,
});

type Returned = {
  readonly isError: boolean;
  /** The structured content as JSON, or the message of an error. */
  readonly text: string;
  readonly value: Record<string, unknown>;
  /** The size of the result in bytes, as sent. */
  readonly bytes: number;
};

/** Connects the SDK's own client to a server with these tools in this process. */
export async function connect(context: McpContext, tools?: Readonly<Record<string, Tool>>) {
  const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
  const served = serveStdio(() => createMcpServer({ context, ...(tools && { tools }), version: '0.0.0' }), {
    transport: serverSide,
  });
  const client = new Client({ name: 'test', version: '0.0.0' });
  await client.connect(clientSide);
  async function call(
    name: string,
    args: Record<string, unknown> = {},
    signal?: AbortSignal,
  ): Promise<Returned> {
    const result = await client.callTool({ name, arguments: args }, signal === undefined ? {} : { signal });
    const { content, isError = false, structuredContent = {} } = result;
    const [first] = content;
    const said = first?.type === 'text' ? first.text : '';
    return {
      isError,
      text: isError ? said : JSON.stringify(structuredContent),
      value: structuredContent as Record<string, unknown>,
      bytes: Buffer.byteLength(JSON.stringify(result)),
    };
  }
  return {
    client,
    call,
    /** The keys that a search finds, page by page. */
    async searchPages(args: Record<string, unknown>): Promise<readonly (readonly string[])[]> {
      const pages: string[][] = [];
      let cursor: unknown;
      do {
        const { value } = await call('search', { ...args, ...(cursor !== undefined && { cursor }) });
        const { matches } = value['data'] as { matches: readonly { readonly key: string }[] };
        pages.push(matches.map(({ key }) => key));
        cursor = value['nextCursor'];
      } while (cursor !== undefined);
      return pages;
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      await served.close();
    },
  };
}
