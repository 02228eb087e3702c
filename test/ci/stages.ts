import type { Stage } from './run-stage.ts';

const npm = (...words: readonly string[]) => ['npm', 'run', '--silent', ...words] as const;

/** Fetches engines while everything else runs, with low priority: compiling MinIO alone takes minutes. */
export const fetching: Stage = {
  name: 'fetch',
  command: ['nice', '-n', '10', ...npm('conformance', '--', '--fetch', '--fetch-minutes', '22')],
  limitMinutes: 24,
};

/** The seeds of the simulation, always the same. */
const SEEDS = '201..245';

/** The seed of the odd records for the comparison of SQL engines, always the same. They include a year 0. */
const SQL = 'SQL_SEED=472656220';

/** The groups of code that implement the promises, and the number of mutants that are tried in each. */
const GROUPS = ['retry', 'page', 'scan', 'sources', 'ledger', 'pace', 'publish', 'texts'];
const CHANGES = '8';

/**
 * All stages, in turns. The lanes of a turn run concurrently, the stages of a lane one after another. Stages that
 * mostly wait (conformance, the storm) run next to stages that use one core; stages that use both cores run alone.
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
