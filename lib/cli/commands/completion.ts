import { Argument } from 'commander';
import { defineCommand } from '../command.ts';
import { shells } from '../completion/shells.ts';
import { placesOf } from '../completion/words.ts';
import { exitCodes } from '../terminal/terminal.ts';

/** `completion SHELL`: a script that completes commands and options, made of the commands as they are. */
export const completion = defineCommand({
  does: 'Print a script with which a shell completes commands, options and sources.',
  arguments: [new Argument('<shell>', 'the shell').choices(Object.keys(shells))],
  examples: ['completion bash', 'completion zsh', 'completion fish'],
  run([shell], _, { out }, { parent }) {
    if (parent !== null) out(shells[shell as keyof typeof shells](placesOf(parent)));
    return exitCodes.done;
  },
});
