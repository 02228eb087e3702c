/*
 * The command line. Programs start it through `bin.js`; whatever documents the commands reads their
 * definitions here.
 */

export { addCommand, type CommandFamily } from './command.ts';
export { families } from './command-line.ts';
