import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

/** Takes the exit code of a command that has finished. */
export type Finish = (code: number) => void;

/** Adds a command to the program; it calls `finish` with its exit code, or throws. */
export type AddCommand = (program: Command, terminal: Terminal, finish: Finish) => void;
