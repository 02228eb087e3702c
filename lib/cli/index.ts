/*
 * The command line. Programs start it by `bin.js`; what documents the commands reads their definitions here.
 */

export { addCommand, type CommandFamily } from './command.ts';
export { families } from './command-line.ts';
