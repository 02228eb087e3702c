import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { sampled, scaled } from '../scale.ts';

/*
 * Responses within the default limit of 100 MB that would take gigabytes once parsed; in the short run, three of them, of
 * a fifth of that size. The process holds each response twice: as what is sent, and as what was received.
 */

const SIZE_MB = Math.min(100, scaled(20, 100));
const MOST_MB = 200 + 4 * SIZE_MB;
const VALUES = /contract: expected at most 500000 values in a response, got \d+$/;
const NAMES = /contract: expected records with at most 10000 different field names in a response, got more$/;
const RECORDS = /contract: expected at most 100000 records in a page, got more$/;

const CASES = [
  ['calculations names', 'searchCalculations (calculations from 0)', NAMES],
  ['calculations tiny', 'searchCalculations (calculations from 0)', RECORDS],
  ['calculations head', 'searchCalculations (calculations from 0)', VALUES],
  ['cards tiny', 'listCards (cards of dataset a)', VALUES],
  ['cards names', 'listCards (cards of dataset a)', VALUES],
  ['files tiny', 'searchFiles (files of FileSet 0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b)', VALUES],
  ['files names', 'searchFiles (files of FileSet 0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b)', VALUES],
] as const;

test.each(sampled(3, CASES))(
  '%s: refused before they are in memory, at the first attempt',
  (kind, about, says) => {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['test/hostile/response-memory-process.ts', kind, String(SIZE_MB)],
      { encoding: 'utf8' },
    );

    const { message, peakMb } = JSON.parse(stdout || JSON.stringify({ message: stderr }));
    expect(message).toMatch(says);
    expect(message.startsWith(`PlatformError: ${about} failed: `)).toBe(true);
    expect(peakMb).toBeLessThan(MOST_MB);
  },
);
