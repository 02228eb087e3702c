import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call } from './access.ts';

/** The calls of one test file on one stack. */
export type Recorded = { readonly test: string; readonly calls: readonly Call[] };

/** Stores the calls on a stack, when it ends, in the folder that `ACCESS_CALLS` names. Does nothing without it. */
export function recordCalls(calls: readonly Call[]): void {
  const { ACCESS_CALLS: folder, ACCESS_CALLS_BY: test } = process.env;
  if (!folder || !test) return;
  mkdirSync(folder, { recursive: true });
  const recorded: Recorded = { test, calls };
  writeFileSync(join(folder, `${randomUUID()}.json`), JSON.stringify(recorded));
}

/** All recorded calls in a folder. */
export const readRecorded = (folder: string): readonly Recorded[] =>
  readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
