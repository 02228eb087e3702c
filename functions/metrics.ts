import type { MeasureName, ProblemName } from '../lib/base/aws/index.ts';
import type { JobFinished } from '../lib/jobs/index.ts';
import type { DailyUsage } from '../lib/jobs/texts/index.ts';
import type { PaceCounts } from '../lib/pace/index.ts';
import { type PlatformEvent, type Sentiment, tokensOf } from '../lib/platform/index.ts';
import type { EndpointName } from '../lib/platform/operations/index.ts';
import type { Environment } from '../lib/settings.ts';
import { measuredLine, problemLine } from './log-lines.ts';
import { createThrottling } from './throttling.ts';

/**
 * The measures of a function. They are sums, which `flush` logs in one line at the end of an invocation. Each sum that
 * shows a problem is also logged in a separate line.
 */
export type FunctionMetrics = {
  readonly observe: (event: PlatformEvent) => void;
  readonly jobFinished: (event: Pick<JobFinished, 'type' | 'status'>) => void;
  readonly messageRefused: () => void;
  readonly textScored: (sentiment: Sentiment) => void;
  readonly snapshotEnded: (ended: { readonly place: string; readonly kind: 'published' | 'refused' }) => void;
  /** Makes each flush report how many slots the pace has granted, used and wasted since the last flush. */
  readonly followPace: (counts: () => PaceCounts) => void;
  /** Returns the number of scored texts and their tokens since the last flush. */
  readonly scored: () => DailyUsage;
  /** Reports how much all processes together have scored on this day. */
  readonly scoredInDay: (day: DailyUsage) => void;
  readonly flush: () => void;
};

/** Creates the measures of the stack SYNC_STACK, whose fleet has the rate PLATFORM_RATE. */
export function createMetrics(
  { SYNC_STACK: service = 'local', PLATFORM_RATE: rate = '' }: Environment,
  write: (line: string) => void,
  now: () => number = Date.now,
): FunctionMetrics {
  let sums = createSums();
  let places: { readonly place: string; readonly name: MeasureName }[] = [];
  let problems: (readonly [ProblemName, number])[] = [];
  let addPace = () => {};
  const throttling = createThrottling(Number(rate) || 1, now);
  return {
    followPace(counts) {
      let before = counts();
      throttling.followRate(() => counts().effectiveRate);
      addPace = () => {
        const after = counts();
        for (const [name, field] of SLOT_MEASURES) sums.add(name, after[field] - before[field]);
        if (after.granted > before.granted) sums.add('EffectiveRate', after.effectiveRate);
        before = after;
      };
    },
    observe: (event) => {
      throttling.observe(event);
      for (const [name, value] of Object.entries(measuresOf(event)) as [MeasureName, number][])
        sums.add(name, value);
    },
    jobFinished: ({ type, status }) => sums.add(JOB_MEASURES[status], 1, type),
    messageRefused: () => sums.add('MessagesRefused', 1),
    textScored: (sentiment) => sums.add('SentimentTokens', tokensOf(sentiment).total),
    snapshotEnded: ({ place, kind }) => places.push({ place, name: SNAPSHOT_METRICS[kind] }),
    scored: () => ({ calls: sums.all.SentimentCalls ?? 0, tokens: sums.all.SentimentTokens ?? 0 }),
    scoredInDay: ({ calls, tokens }) => problems.push(['SentimentCalls', calls], ['SentimentTokens', tokens]),
    flush() {
      addPace();
      const at = now();
      const refused = places.filter(({ name }) => name === 'SnapshotsRefused').length;
      for (const { place, name } of places) write(measuredLine({ [name]: 1 }, { at, service, place }));
      if (!sums.empty()) write(measuredLine(sums.all, { at, service, byType: sums.byType }));
      problems.push(
        ...PROBLEMS.map((name) => [name, sums.all[name] ?? 0] as const),
        ['SnapshotRefused', refused],
        ...throttling.problems(),
      );
      for (const [problem, value] of problems)
        if (value > 0) write(problemLine(problem, value, { at, service }));
      places = [];
      problems = [];
      sums = createSums();
    },
  };
}

/** Measures that are a problem as soon as they are above 0. */
const PROBLEMS = [
  'Unauthorized',
  'Forbidden',
  'MessagesRefused',
  'JobsFailed',
  'JobsUnknown',
] as const satisfies readonly (MeasureName & ProblemName)[];

/** Sums by name, without zeros: in total, and by job type. */
function createSums() {
  const all: Sums = {};
  const byType: Record<string, Sums> = {};
  const addTo = (to: Sums, name: MeasureName, value: number) => {
    to[name] = (to[name] ?? 0) + value;
  };
  return {
    all: all as Readonly<Sums>,
    byType: byType as Readonly<Record<string, Readonly<Sums>>>,
    empty: () => Object.keys(all).length === 0,
    add(name: MeasureName, value: number, type?: string) {
      if (value === 0) return;
      addTo(all, name, value);
      if (type === undefined) return;
      byType[type] ??= {};
      addTo(byType[type], name, value);
    },
  };
}

type Sums = Partial<Record<MeasureName, number>>;

const JOB_MEASURES = {
  done: 'JobsDone',
  failed: 'JobsFailed',
  unknown: 'JobsUnknown',
} as const satisfies Record<JobFinished['status'], MeasureName>;

const SLOT_MEASURES = [
  ['SlotsGranted', 'granted'],
  ['SlotsUsed', 'used'],
  ['SlotsWasted', 'wasted'],
] as const satisfies readonly (readonly [MeasureName, keyof PaceCounts])[];

const SNAPSHOT_METRICS = {
  published: 'SnapshotsPublished',
  refused: 'SnapshotsRefused',
} as const satisfies Record<string, MeasureName>;

const SENTIMENT = 'analyzeSentiment' satisfies EndpointName;

/**
 * The operations for which a 403 is not a reason for an alarm: it concerns a single record that the token's user
 * may not read, which the manifest lists.
 */
const MAY_BE_FORBIDDEN: readonly string[] = ['listCards', 'getDataFile'] satisfies EndpointName[];

function measuresOf(event: PlatformEvent): Readonly<Sums> {
  switch (event.kind) {
    case 'request':
      return {
        Requests: 1,
        ...(event.status === 401 ? { Unauthorized: 1 } : {}),
        ...(event.status === 403 && !MAY_BE_FORBIDDEN.includes(event.operation) ? { Forbidden: 1 } : {}),
        ...(event.operation === SENTIMENT ? { SentimentCalls: 1 } : {}),
      };
    case 'retry':
      return { Retries: 1 };
    case 'throttled':
      return { Throttled: 1 };
    case 'odd':
      return { OddAnswers: 1 };
    case 'waited':
      return { WaitedMs: Math.round(event.waitedMs) };
    default:
      return event satisfies never;
  }
}
