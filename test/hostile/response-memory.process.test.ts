import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { sampled, scaled } from '../scale.ts';
import type { LargeKind } from './large-responses.ts';

/*
 * Reads responses of 100 MB, nearly the default limit, as a snapshot does; in a short run, three kinds of a tenth of
 * that size. Parsed, most would take gigabytes. A Lambda has 1,024 MB.
 */

const SIZE_MB = Math.min(100, scaled(10, 100));
const MAX_MB = SIZE_MB < 100 ? 400 : 700;

const faulty = (about: string, limit: string) =>
  `PlatformError: ${about} failed: the response does not match the contract: expected ${limit}, got more`;
const NAMES = 'records with at most 10000 different field names in a response';
const ALL = /^took \d{5,}$/;

const CASES: readonly (readonly [kind: LargeKind, responses: number, ends: string | RegExp])[] = [
  ['cards many', 1, ALL],
  ['cards many', 8, ALL],
  ['cards unordered', 1, ALL],
  ['cards tiny', 1, ALL],
  ['cards names', 1, faulty('listCards (cards of dataset dataset-0)', NAMES)],
  ['files many', 1, ALL],
  ['files tiny', 1, ALL],
  ['files names', 1, faulty('searchFiles (files of FileSet 0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b)', NAMES)],
  ['data-files many', 1, /^took 1$/],
  ['calculations names', 1, faulty('searchCalculations (calculations from 0)', NAMES)],
  [
    'calculations tiny',
    1,
    faulty('searchCalculations (calculations from 0)', 'at most 100000 records in a page'),
  ],
  ['calculations head', 1, /^read 0$/],
];

test.each(sampled(3, CASES))(
  'memory stays bounded while responses are accepted or refused: %s, %i concurrent',
  (kind, responses, ends) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['test/hostile/response-memory-process.ts', kind, String(SIZE_MB), String(responses)],
      { encoding: 'utf8' },
    );

    const { message, peakMb } = JSON.parse(stdout || JSON.stringify({ message: stderr }));
    expect(message).toEqual(typeof ends === 'string' ? ends : expect.stringMatching(ends));
    expect(peakMb).toBeLessThan(MAX_MB);
  },
);
