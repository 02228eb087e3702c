/** The SDK's modules of a server, as they are loaded. */
export type McpSdk = {
  readonly McpServer: typeof import('@modelcontextprotocol/server').McpServer;
  readonly serveStdio: typeof import('@modelcontextprotocol/server/stdio').serveStdio;
  readonly StdioServerTransport: typeof import('@modelcontextprotocol/server/stdio').StdioServerTransport;
};

/** The SDK cannot be loaded: it is not installed. The message says how to get it. */
export class McpSdkMissingError extends Error {
  override readonly name = 'McpSdkMissingError';
}

/** The version that is tested, which `package.json` names too. */
export const MCP_SDK_VERSION = '2.4.0';

/** Loads the protocol's SDK, an optional peer of the package. Throws `McpSdkMissingError` if it cannot be loaded. */
export async function loadMcpSdk(load: () => Promise<McpSdk> = loadInstalled): Promise<McpSdk> {
  try {
    return await load();
  } catch (cause) {
    const [first = ''] = cause instanceof Error ? cause.message.split('\n') : [String(cause)];
    const isAbsent = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    const fault = isAbsent
      ? 'the SDK of the Model Context Protocol is not installed'
      : `the SDK of the Model Context Protocol cannot be loaded (${first})`;
    throw new McpSdkMissingError(`${fault}: npm install @modelcontextprotocol/server@${MCP_SDK_VERSION}`, {
      cause,
    });
  }
}

async function loadInstalled(): Promise<McpSdk> {
  const [{ McpServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  return { McpServer, serveStdio, StdioServerTransport };
}
