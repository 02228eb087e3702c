import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { GroupName } from './groups.ts';

/** A mutation of the code: the id by which it is switched on, and its place. */
export type Change = {
  readonly id: string;
  /** The path from the root of the project. */
  readonly file: string;
  /** 1 is the first. */
  readonly line: number;
  /** The code that is replaced, and its replacement, each on one line. */
  readonly from: string;
  readonly to: string;
};

/** A sample of `count` changes from each group. The same seed and code yield the same sample. */
export type Sample = { readonly count: number; readonly seed: string };

export function sampleOf(changes: readonly Change[], { count, seed }: Sample): readonly Change[] {
  const rankOf = ({ file, line, from, to }: Change) =>
    createHash('sha256').update([seed, file, line, from, to].join('\n')).digest('hex');
  const ranked = changes.map((change) => ({ change, rank: rankOf(change) }));
  return ranked
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ change }) => change);
}

/**
 * An event in a process that runs tests, in order. A process that is killed leaves a run that began and did not
 * end. Tests and changes are identified by ids.
 */
export type Event =
  /** A test begins to run with a change, and may take `limitMs`. */
  | { readonly kind: 'begins'; readonly test: string; readonly change: string; readonly limitMs: number }
  | { readonly kind: 'ends'; readonly test: string; readonly change: string; readonly outcome: RunOutcome }
  /** The test has run with every change that it reaches. */
  | { readonly kind: 'tested'; readonly test: string }
  /** The test failed without a change after runs with changes, so those may have failed for the same reason. */
  | { readonly kind: 'unsure'; readonly test: string }
  /** Changes that were reached while modules were imported. */
  | { readonly kind: 'imported'; readonly changes: readonly string[] };

/** `looped`: the changed place was reached a hundred times as often as without a change. */
type RunOutcome = 'passed' | 'failed' | 'looped';

/** A file of events, which outlives the processes that write it. */
export type Journal = { readonly add: (event: Event) => void; readonly read: () => readonly Event[] };

export function journalAt(path: string): Journal {
  return {
    add: (event) => appendFileSync(path, `${JSON.stringify(event)}\n`),
    read: () => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).map(eventOf) : []),
  };
}

const eventOf = (line: string): Event => JSON.parse(line) as Event;

/** The progress that follows from the events so far. */
export type Progress = {
  /** The tests that need not run again. */
  readonly tested: ReadonlySet<string>;
  /** How a change was noticed, by the change's id. */
  readonly noticed: ReadonlyMap<string, 'Killed' | 'Timeout'>;
  /** The changes that at least one test reached. */
  readonly reached: ReadonlySet<string>;
  readonly imported: ReadonlySet<string>;
  readonly unsure: ReadonlySet<string>;
  /** The outcome of a test with a change; undefined if it has not run, `hung` if it began and its process was killed. */
  readonly runOf: (test: string, change: string) => RunOutcome | 'hung' | undefined;
};

/** Unfinished runs after which a change counts as hanging: the second had a new process, so the change is to blame. */
const HANGS = 2;

export function progressOf(events: readonly Event[]): Progress {
  const runs = new Map<string, RunOutcome | 'hung'>();
  const begun = new Map<string, number>();
  const noticed = new Map<string, 'Killed' | 'Timeout'>();
  const [tested, reached, imported, unsure] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  for (const event of events) {
    if (event.kind === 'tested') tested.add(event.test);
    if (event.kind === 'unsure') unsure.add(event.test);
    if (event.kind === 'imported') for (const change of event.changes) imported.add(change);
    if (event.kind === 'begins') {
      const key = keyOf(event.test, event.change);
      reached.add(event.change);
      runs.set(key, 'hung');
      begun.set(key, (begun.get(key) ?? 0) + 1);
    }
    if (event.kind === 'ends') {
      runs.set(keyOf(event.test, event.change), event.outcome);
      if (event.outcome !== 'passed')
        noticed.set(event.change, event.outcome === 'failed' ? 'Killed' : 'Timeout');
    }
  }
  for (const [key, outcome] of runs)
    if (outcome === 'hung' && begun.get(key) === HANGS)
      noticed.set(key.slice(key.indexOf(' ') + 1), 'Timeout');
  return {
    tested,
    noticed,
    reached,
    imported,
    unsure,
    runOf: (test, change) => runs.get(keyOf(test, change)),
  };
}

const keyOf = (test: string, change: string): string => `${test} ${change}`;

/** The files that a process reads and writes to run tests, and the group whose tests it runs. */
export type ProcessSettings = {
  readonly group: GroupName;
  /** What `instrument` returned, as JSON. */
  readonly instrumentedFile: string;
  /** The ids of the changes that this process tries, as a JSON list. */
  readonly changesFile: string;
  readonly journalFile: string;
};

const NAME = 'MUTANTS_PROCESS';

export const environmentOf = (settings: ProcessSettings): Readonly<Record<string, string>> => ({
  [NAME]: JSON.stringify(settings),
});

/** Reads the settings of a process that `run-tests.ts` started; undefined in any other process. */
export function processSettings(): ProcessSettings | undefined {
  const text = process.env[NAME];
  return text === undefined ? undefined : (JSON.parse(text) as ProcessSettings);
}
