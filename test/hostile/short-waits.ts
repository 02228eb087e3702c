import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

/*
 * Makes every wait of this process that is a promise last a millisecond, such as those between the attempts of a call.
 * Import it before everything else. Limits of time are not shortened: they are no promises.
 */

const { setTimeout: wait } = timers;

timers.setTimeout = ((ms: number, ...rest: []) => wait(Math.min(ms, 1), ...rest)) as typeof wait;
syncBuiltinESMExports();
