import type { Stage } from './run-stage.ts';

const npm = (...words: readonly string[]) => ['npm', 'run', '--silent', ...words] as const;

/** Runs beside everything else, on what that leaves: MinIO alone is compiled for minutes. */
export const fetching: Stage = {
  name: 'fetch',
  command: ['nice', '-n', '10', ...npm('conformance', '--', '--fetch', '--fetch-minutes', '22')],
  limitMinutes: 24,
};

/** The schedules of the simulation, always the same. */
const SEEDS = '201..245';

/** The odd records that SQL is compared over, always the same too: a year 0 is among them. */
const SQL = 'SQL_SEED=472656220';

/** The groups of code that keep the promises, and the number of mutants that are tried in each. */
const GROUPS = ['retry', 'page', 'scan', 'sources', 'ledger', 'pace', 'publish', 'texts'];
const CHANGES = '8';

/**
 * All that decides, in turns. The lanes of a turn run side by side, the stages of a lane one after another: what waits
 * (conformance, the storm) beside what computes on one core; what has both cores has them for itself.
 */
export const turns: readonly (readonly (readonly Stage[])[])[] = [
  [
    [{ name: 'test', command: npm('test'), limitMinutes: 12 }],
    [{ name: 'install', command: npm('test:browser', '--', '--install'), limitMinutes: 6 }],
  ],
  [[{ name: 'processes', command: npm('test:processes'), limitMinutes: 25 }]],
  [[{ name: 'browser', command: npm('test:browser'), limitMinutes: 12 }]],
  [[{ name: 'ratios', command: npm('bench', '--', 'ratios'), limitMinutes: 8 }]],
  [
    [{ name: 'storm', command: npm('test:storm'), limitMinutes: 6 }],
    [{ name: 'explore', command: npm('explore'), limitMinutes: 10 }],
  ],
  [
    [
      {
        name: 'conformance',
        command: ['env', SQL, ...npm('conformance', '--', '--fetch-minutes', '8')],
        limitMinutes: 28,
      },
    ],
    [
      { name: 'simulate', command: npm('simulate', '--', '--seeds', SEEDS), limitMinutes: 10 },
      { name: 'days', command: npm('simulate', '--', '--day', '--seeds', '1..3'), limitMinutes: 5 },
      {
        name: 'fortnight',
        command: npm('simulate', '--', '--nights', '14', '--seeds', '1'),
        limitMinutes: 5,
      },
      { name: 'mutants', command: npm('mutants', '--', ...GROUPS, '--sample', CHANGES), limitMinutes: 15 },
    ],
  ],
];
