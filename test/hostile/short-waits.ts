import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/*
 * Shortens every promise-based timer of this process to a millisecond, such as waits between the attempts of a call.
 * Import it before everything else. Timeouts are not shortened, since they do not use promise-based timers.
 */

const { setTimeout: wait } = timers;

timers.setTimeout = ((ms: number, ...rest: []) => wait(Math.min(ms, 1), ...rest)) as typeof wait;
syncBuiltinESMExports();
