/* The command line, which `bin.js` starts. The generated page of commands is built from these definitions. */

export { addCommand, type CommandFamily } from './command.ts';
export { families } from './command-line.ts';
