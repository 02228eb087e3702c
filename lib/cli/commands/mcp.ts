import type { AddCommand } from '../command.ts';

/** `mcp`: a server of the Model Context Protocol on standard input and output. Needs only the store. */
export const addMcp: AddCommand = (program, terminal, finish) => {
  program
    .command('mcp')
    .description(
      'Serve the last snapshots, job results and scores to an assistant: a Model Context Protocol server on standard input and output.',
    )
    .option(
      '--allow-submit',
      'also serve tools that put jobs on the queue, each after a dry run and a confirmation',
    )
    .action(async (flags: { readonly allowSubmit?: true }) => {
      // Loaded only when it is needed, so that the other commands start without it.
      const { runMcp } = await import('../mcp/run-mcp.ts');
      finish(await runMcp(flags, terminal));
    });
};
