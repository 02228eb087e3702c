import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { GroupName } from './groups.ts';

/** A change of the code: the switch that turns it on, and where it is. */
export type Change = {
  readonly id: string;
  /** The path from the root of the project. */
  readonly file: string;
  /** 1 is the first. */
  readonly line: number;
  /** What is replaced, and what by, each on one line. */
  readonly from: string;
  readonly to: string;
};

/** A sample of the changes, with this number from each group: the same ones for the same seed and code. */
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
 * What happened in the processes that run the tests, in order: a process that is killed leaves a run that began and did
 * not end. Tests and changes are ids.
 */
export type Event =
  /** A test begins with a change, and may take this long. */
  | { readonly kind: 'begins'; readonly test: string; readonly change: string; readonly limitMs: number }
  | { readonly kind: 'ends'; readonly test: string; readonly change: string; readonly outcome: RunOutcome }
  /** The test has run with each change that it reaches. */
  | { readonly kind: 'tested'; readonly test: string }
  /** It failed without a change after it had run with some, so these may have failed for the same reason. */
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

/** What the events say so far. */
export type Progress = {
  /** Tests that need not run again. */
  readonly tested: ReadonlySet<string>;
  /** What a test noticed, by change. */
  readonly noticed: ReadonlyMap<string, 'Killed' | 'Timeout'>;
  /** Changes that some test reached. */
  readonly reached: ReadonlySet<string>;
  readonly imported: ReadonlySet<string>;
  readonly unsure: ReadonlySet<string>;
  /** How a test went with a change: undefined if it has not run, `hung` if it began and its process was killed. */
  readonly runOf: (test: string, change: string) => RunOutcome | 'hung' | undefined;
};

/** A run that began twice and never ended hung in a process of its own, so the change is to blame. */
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

/** What a process that runs tests reads and writes: files of a folder, and which group's tests it runs. */
export type ProcessSettings = {
  readonly group: GroupName;
  /** What `instrument` returned, as JSON. */
  readonly instrumentedFile: string;
  /** The changes that are this process's, as JSON: a list of ids. */
  readonly changesFile: string;
  readonly journalFile: string;
};

const NAME = 'MUTANTS_PROCESS';

export const environmentOf = (settings: ProcessSettings): Readonly<Record<string, string>> => ({
  [NAME]: JSON.stringify(settings),
});

/** Undefined outside such a process. */
export function processSettings(): ProcessSettings | undefined {
  const text = process.env[NAME];
  return text === undefined ? undefined : (JSON.parse(text) as ProcessSettings);
}
