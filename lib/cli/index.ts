/* The command line. It is started through `bin.js`. The pages that document the commands read their definitions here. */

export { addCommand, type CommandFamily } from './command.ts';
export { families } from './command-line.ts';
