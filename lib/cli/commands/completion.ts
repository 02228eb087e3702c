import { Argument } from 'commander';
import { defineCommand } from '../command.ts';
import { bashCompletion } from '../completion/bash.ts';
import { fishCompletion } from '../completion/fish.ts';
import { type Place, placesOf } from '../completion/words.ts';
import { zshCompletion } from '../completion/zsh.ts';
import { exitCodes } from '../terminal.ts';

/** The scripts by their shells. */
const shells = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
} as const satisfies Readonly<Record<string, (places: readonly Place[]) => string>>;

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
