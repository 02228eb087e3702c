import { defineCommand } from '../command.ts';

/** `mcp`: a server of the Model Context Protocol on standard input and output. Needs only the store. */
export const mcp = defineCommand({
  does: 'Serve the last snapshots, job results and scores to an assistant: a Model Context Protocol server on standard input and output.',
  options: [
    [
      '--allow-submit',
      'also serve tools that put jobs on the queue, each after a dry run and a confirmation',
    ],
  ],
  examples: ['mcp', 'mcp --profile acme', 'mcp --allow-submit'],
  async run(_, flags, terminal) {
    const { runMcp } = await import('../mcp/run-mcp.ts');
    return runMcp(flags, terminal);
  },
});
