import { createDice, type Dice } from '../dice.ts';
import type { FunctionEnd, JobPlan } from '../job-plan.ts';
import { longSpell, type Spell, spellsOf } from './spells.ts';

/** A job of the plan, and when its message is first sent, in milliseconds from the start. */
type PlannedJob = { readonly job: JobPlan; readonly atMs: number };

/** A batch of texts, given as the text's number for each row; undefined: a row without a text. */
export type PlannedBatch = {
  readonly texts: readonly (number | undefined)[];
  readonly maxCalls: number | undefined;
  readonly atMs: number;
};

/** An action of people. `job` and `batch` are numbers from 1. */
export type Deed =
  | { readonly kind: 'cancel' | 'redrive'; readonly job: number; readonly atMs: number }
  | { readonly kind: 'send again'; readonly job: number; readonly atMs: number }
  | { readonly kind: 'cancel batch' | 'redrive batch'; readonly batch: number; readonly atMs: number }
  | { readonly kind: 'forget'; readonly text: number; readonly atMs: number }
  | { readonly kind: 'pause' | 'resume' | 'reset' | 'deploy' | 'prune'; readonly atMs: number };

/** The kinds of shared table. Users of SQLite share one clock, and a process that has ended holds no locks in it. */
export const tableKinds = ['DynamoDB', 'SQLite'] as const;
export type TableKind = (typeof tableKinds)[number];

type Span = { readonly fromMs: number; readonly toMs: number };

/** Everything about a schedule that is decided before it begins. Times are in milliseconds from the start. */
export type Plan = {
  readonly seed: number;
  readonly table: TableKind;
  /** The rate, in requests a second, that the platform allows and that the fleet is configured with. */
  readonly rate: number;
  /** Lower limits of the platform from certain times on, in order of time; the fleet learns them. */
  readonly limits: readonly { readonly fromMs: number; readonly rate: number }[];
  /** The times in which the platform rejects every text because credits are used up. */
  readonly quotas: readonly Span[];
  /** The time, in milliseconds, after which SYNC_COMPRESSION changes from gzip to zstd or back. */
  readonly compressionLastsMs: number;
  /** How long a slice of a snapshot lasts, in milliseconds. */
  readonly sliceMs: number;
  /** The probability that a response, or a record, has another legal shape: 0 to 1. */
  readonly odd: number;
  /** The number of processes that run `work`, in addition to two pollers. */
  readonly workers: number;
  /** Minimum seconds of an empty poll: otherwise most of the time of simulating a year would go to polls of idle nights. */
  readonly pollSeconds: number;
  /** How far the clocks of the processes are off, used in turn. */
  readonly skewsMs: readonly number[];
  readonly jobs: readonly PlannedJob[];
  readonly batches: readonly PlannedBatch[];
  /** The times at which the scheduler sends a snapshot job. */
  readonly snapshotsAtMs: readonly number[];
  readonly records: number;
  /** The number of datasets that calculations link to, whose cards are copied after each snapshot; 0: no cards are copied. */
  readonly datasets: number;
  readonly deeds: readonly Deed[];
  /** The size of the backlog that is sent when everything becomes calm, as the time that its calls take at the full rate. */
  readonly backlogMs: number;
  readonly spells: readonly Spell[];
  /** The percentage of acts at any border that meet a fault outside of spells. */
  readonly noisePercent: number;
  /** The percentage of acts at which the process dies or is paused. */
  readonly crashPercent: number;
  readonly pausePercent: number;
  /** The percentage of acts at which the process's clock is set a month ahead, a month back, or right again. */
  readonly clockPercent: number;
  /** From this time on there are no more faults. */
  readonly calmFromMs: number;
};

/** The number of records of a page. */
export const pageRows = ({ seed }: Plan): number => 10 + (seed % 40);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seeds the dice of long outages, so that they are independent of the rest of the plan. */
const LONG = 0x10_0000;

/** The plan of a seed. In one plan of ten, something is unavailable for an hour or two. */
export function planOf(seed: number, table: TableKind = 'DynamoDB'): Plan {
  const plan = { ...shortPlanOf(seed), table, ...(table === 'SQLite' ? { skewsMs: [0] } : {}) };
  const dice = createDice(seed ^ LONG);
  if (!dice.percent(10)) return plan;
  const calmFromMs = plan.calmFromMs + dice.pick([45, 120]) * MINUTE;
  return {
    ...plan,
    calmFromMs,
    snapshotsAtMs: [...plan.snapshotsAtMs.slice(0, -1), calmFromMs + 30_000],
    spells: [...plan.spells, longSpell(dice, { fromMs: MINUTE, toMs: calmFromMs })],
  };
}

function shortPlanOf(seed: number): Omit<Plan, 'table'> {
  const dice = createDice(seed);
  const rate = dice.pick([2, 4, 6]);
  const calmFromMs = dice.pick([2, 4, 8, 15]) * MINUTE;
  const isRough = dice.percent(80);
  const ofBatches = createDice(seed ^ OF_BATCHES);
  const batches = ofBatches.percent(50)
    ? batchesOf(ofBatches, { most: 2, toMs: Math.min(calmFromMs, 5 * MINUTE) })
    : [];
  const jobs = Array.from({ length: 20 + dice.below(10 * rate) }, () => ({
    job: jobOf(dice),
    atMs: dice.below(Math.min(calmFromMs, 5 * MINUTE)),
  }));
  return {
    seed,
    rate,
    limits: [],
    quotas: [],
    compressionLastsMs: Number.POSITIVE_INFINITY,
    odd: 0,
    workers: 2,
    pollSeconds: 0,
    sliceMs: 15_000,
    skewsMs: Array.from({ length: 5 }, () => dice.pick([0, 0, 40, -300, 900, -1_000])),
    jobs,
    batches,
    snapshotsAtMs: Array.from({ length: 2 }, () => dice.below(calmFromMs)).concat(calmFromMs + 30_000),
    records: 100 + dice.below(300),
    datasets: 0,
    deeds: [
      ...deedsOf(dice, { jobs: jobs.length, calmFromMs }),
      ...deedsOnBatches(ofBatches, { batches, calmFromMs }),
    ],
    backlogMs: 2 * MINUTE,
    spells: isRough ? spellsOf(dice, calmFromMs) : [],
    noisePercent: dice.pick([0, 0.2, 1, 3]),
    crashPercent: dice.pick([0, 0.05, 0.3]),
    pausePercent: dice.pick([0, 0.05, 0.2]),
    clockPercent: createDice(seed ^ OF_CLOCKS).pick([0, 0, 0.1, 0.5]),
    calmFromMs,
  };
}

/** Seeds the dice of clocks, so that they are independent of the rest of the plan. */
const OF_CLOCKS = 0x100_0000;

/** Seeds the dice of batches, so that they are independent of the rest of the plan. */
const OF_BATCHES = 0x80_0000;

/** Seeds the dice of what a kind of plan adds, so that they are independent of the rest of the plan. */
const OF_KIND = 0x40_0000;

/**
 * A plan with jobs only. Simulating an outage of an hour or two takes as long as twenty schedules, so one plan in
 * forty has one, not one in ten.
 */
function jobsAlone({ seed, calmFromMs, spells, deeds }: Plan) {
  const times = seed % 4 === 0 ? { calmFromMs, spells } : shortPlanOf(seed);
  return {
    calmFromMs: times.calmFromMs,
    spells: times.spells,
    snapshotsAtMs: [],
    records: 0,
    backlogMs: 1_000,
    batches: [],
    deeds: deeds.filter(({ kind }) => !onBatches.includes(kind)),
  };
}

/** Plans with one kind of work only, which run several times faster. Even these send one or two jobs after the last fault. */
export const kinds = {
  jobs: jobsAlone,
  /** Scans only. A few records are enough, since their pages overlap too. Cards are copied as well, and prunes interfere. */
  scans({ seed, rate, calmFromMs, snapshotsAtMs, records, deeds }) {
    const dice = createDice(seed ^ OF_KIND);
    const often = (most: number) =>
      Array.from({ length: dice.below(most + 1) }, () => dice.below(calmFromMs));
    return {
      jobs: [],
      batches: [],
      backlogMs: 1_000,
      records: Math.ceil(records / 4),
      datasets: dice.pick([0, 2]),
      snapshotsAtMs: [...often(rate - 1), ...snapshotsAtMs],
      deeds: [
        ...deeds.filter(({ kind }) => ![...ofJobs, ...onBatches].includes(kind)),
        ...often(1).map((atMs) => ({ kind: 'deploy' as const, atMs })),
        ...often(3).map((atMs) => ({ kind: 'prune' as const, atMs })),
      ],
    };
  },
  /** Batches only, which share texts with each other and with jobs. Some are cancelled, and some texts are forgotten. */
  batches(plan) {
    const dice = createDice(plan.seed ^ OF_KIND);
    const times = jobsAlone(plan);
    const { calmFromMs } = times;
    const batches = batchesOf(dice, { most: 3, toMs: Math.min(calmFromMs, 5 * MINUTE) });
    return {
      ...times,
      jobs: plan.jobs.filter(({ job }) => job.type === 'score'),
      batches,
      deeds: [
        ...times.deeds.filter(({ kind }) => !ofJobs.includes(kind)),
        ...deedsOnBatches(dice, { batches, calmFromMs }),
      ],
    };
  },
  /** Bursts of jobs under a changing rate limit, while texts are rejected and accepted again, in eight processes that die. */
  limits({ seed, rate, skewsMs, calmFromMs: lastsMs, table, clockPercent }) {
    const dice = createDice(seed ^ OF_KIND);
    const calmFromMs = Math.max(lastsMs, 20 * MINUTE);
    const parts = calmFromMs > HOUR ? 24 : 5;
    const at = (part: number) => (part * calmFromMs) / parts;
    const burst = (fromMs: number) =>
      Array.from({ length: 12 * rate }, () => ({ job: jobOf(dice), atMs: fromMs + dice.below(3 * MINUTE) }));
    const busy = Array.from({ length: parts - 1 }, (_, part) => at(part));
    return {
      calmFromMs,
      workers: 6,
      skewsMs: [...skewsMs, ...skewsMs],
      limits: [
        ...busy.map((fromMs) => ({ fromMs, rate: dice.pick([1, rate / 2, rate - 1]) })),
        { fromMs: calmFromMs - 6 * MINUTE, rate },
      ],
      quotas: [0, 12]
        .filter((part) => part < parts)
        .map((part) => ({ fromMs: at(part + 0.5), toMs: at(part + 2) + dice.below(at(1)) })),
      jobs: busy.flatMap(burst),
      snapshotsAtMs: [],
      records: 0,
      batches: [],
      spells: [],
      deeds: [],
      noisePercent: 0,
      crashPercent: calmFromMs > HOUR ? 0.05 : 0.3,
      // If all processes share a clock and it is set, a process before its first call cannot detect that: the line
      // seems to be free.
      clockPercent: table === 'SQLite' ? 0 : clockPercent,
    };
  },
} as const satisfies Record<string, (plan: Plan) => Partial<Plan>>;

export const kindNames = Object.keys(kinds) as readonly (keyof typeof kinds)[];

const ofJobs: readonly string[] = ['cancel', 'redrive', 'send again'];
const onBatches: readonly string[] = ['cancel batch', 'redrive batch', 'forget'];

/** Random batches. A chunk has a hundred rows; most texts occur several times, since a schedule has no time for more. */
function batchesOf(dice: Dice, { most, toMs }: { readonly most: number; readonly toMs: number }) {
  return Array.from({ length: 1 + dice.below(most) }, (): PlannedBatch => {
    const from = dice.below(TEXTS);
    const distinct = 1 + dice.below(TEXTS);
    return {
      texts: Array.from({ length: 1 + dice.below(250) }, () =>
        dice.percent(3) ? undefined : from + dice.below(distinct),
      ),
      maxCalls: dice.percent(20) ? distinct + dice.below(distinct) : undefined,
      atMs: dice.below(toMs),
    };
  });
}

/** The number of texts that batches and jobs share. */
const TEXTS = 40;

/** Random deeds on batches. Half of them happen while a batch is under way; most batches take seconds. */
function deedsOnBatches(
  dice: Dice,
  { batches, calmFromMs }: Pick<Plan, 'batches' | 'calmFromMs'>,
): readonly Deed[] {
  return Array.from({ length: batches.length === 0 ? 0 : dice.below(9) }, (): Deed => {
    const batch = 1 + dice.below(batches.length);
    const soonMs = (batches[batch - 1]?.atMs ?? 0) + dice.below(20_000);
    const atMs = dice.percent(50) ? Math.min(soonMs, calmFromMs) : dice.below(calmFromMs);
    const kind = dice.pick(['cancel batch', 'redrive batch', 'redrive batch', 'forget'] as const);
    return kind === 'forget' ? { kind, text: dice.below(2 * TEXTS), atMs } : { kind, batch, atMs };
  });
}

/** Seeds the dice of a day, so that they differ from those of a short schedule. */
const OF_DAY = 0x20_0000;

/**
 * A day of everything at once: a snapshot with cards every hour, jobs all day, spells and deeds of people every two
 * hours. Batches and a prune come every four hours, a deployment every six. Twice, one border is unavailable for
 * three quarters of an hour.
 */
export function dayOf(seed: number, table: TableKind = 'DynamoDB'): Plan {
  const dice = createDice(seed ^ OF_DAY);
  const every = (ms: number) => Array.from({ length: DAY / ms }, (_, index) => index * ms);
  const short = shortPlanOf(seed);
  const jobs = Array.from({ length: 500 }, () => ({ job: jobOf(dice), atMs: dice.below(DAY - HOUR) }));
  const later =
    (fromMs: number) =>
    <Timed extends { readonly atMs: number }>(planned: Timed): Timed => ({
      ...planned,
      atMs: planned.atMs + fromMs,
    });
  const batches = every(4 * HOUR).flatMap((ms) => batchesOf(dice, { most: 2, toMs: HOUR }).map(later(ms)));
  return {
    ...short,
    table,
    skewsMs: table === 'SQLite' ? [0] : short.skewsMs,
    calmFromMs: DAY,
    records: 200,
    datasets: 5,
    jobs,
    batches,
    snapshotsAtMs: every(HOUR)
      .map((ms) => ms + dice.below(10 * MINUTE))
      .concat(DAY + 30_000),
    deeds: [
      ...every(2 * HOUR).flatMap((ms) =>
        deedsOf(dice, { jobs: jobs.length, calmFromMs: 2 * HOUR }).map(later(ms)),
      ),
      ...deedsOnBatches(dice, { batches, calmFromMs: DAY }),
      ...every(6 * HOUR).map((ms) => ({ kind: 'deploy' as const, atMs: ms + dice.below(HOUR) })),
      ...every(4 * HOUR).map((ms) => ({ kind: 'prune' as const, atMs: ms + 2 * HOUR + dice.below(HOUR) })),
    ],
    spells: [
      ...every(2 * HOUR).flatMap((ms) =>
        spellsOf(dice, 2 * HOUR).map((spell) => ({
          ...spell,
          fromMs: spell.fromMs + ms,
          toMs: spell.toMs + ms,
        })),
      ),
      ...[9 * HOUR, 19 * HOUR].map((fromMs) => longSpell(dice, { fromMs, toMs: fromMs + 45 * MINUTE })),
    ],
    noisePercent: 0.2,
    crashPercent: 0.05,
    pausePercent: 0.05,
    clockPercent: 0.02,
  };
}

/** Seeds the dice of nights, so that they differ from those of a day. */
const OF_NIGHTS = 0x40_0001;

/**
 * Many days as in a real account. Each day: a snapshot with cards at night, a prune in the morning, thirty jobs and
 * one fault. Each week: a batch and a deployment. Each fortnight: an outage of one to two hours. Each month: a day
 * at half the rate limit, and hours in which texts are rejected. Clocks are set a month off, three in ten responses
 * and records have other legal shapes, and the compression changes while runs are under way.
 */
export function nightsOf(seed: number, days: number, table: TableKind = 'DynamoDB'): Plan {
  const dice = createDice(seed ^ OF_NIGHTS);
  const each = <Value>(every: number, plan: (fromMs: number) => readonly Value[]): readonly Value[] =>
    Array.from({ length: Math.ceil(days / every) }, (_, index) => plan(index * every * DAY)).flat();
  const later = <Timed extends { readonly atMs: number }>(fromMs: number, planned: readonly Timed[]) =>
    planned.map((timed) => ({ ...timed, atMs: timed.atMs + fromMs }));
  const short = shortPlanOf(seed);
  const endMs = days * DAY;
  const jobs = each(1, (ms) =>
    Array.from({ length: 30 }, () => ({ job: jobOf(dice), atMs: ms + dice.below(DAY - HOUR) })),
  );
  const batches = each(7, (ms) => later(ms, batchesOf(dice, { most: 1, toMs: DAY })));
  const aDay = Math.floor(jobs.length / days);
  return {
    ...short,
    table,
    skewsMs: table === 'SQLite' ? [0] : short.skewsMs,
    calmFromMs: endMs,
    odd: 0.3,
    compressionLastsMs: 5 * DAY,
    pollSeconds: 1_200,
    // A scan takes several slices, so that the cost of a crash shows.
    sliceMs: 1_000,
    // Each month the platform allows half the rate for a day, and rejects texts for six hours.
    limits: each(30, (ms) => [
      { fromMs: ms + 3 * DAY, rate: short.rate / 2 },
      { fromMs: ms + 4 * DAY, rate: short.rate },
    ]),
    quotas: each(30, (ms) => [{ fromMs: ms + 8 * DAY, toMs: ms + 8 * DAY + 6 * HOUR }]),
    records: 200,
    datasets: 5,
    jobs,
    batches,
    snapshotsAtMs: [...each(1, (ms) => [ms + 2 * HOUR + dice.below(10 * MINUTE)]), endMs + 30_000],
    deeds: [
      ...each(1, (ms): readonly Deed[] => {
        const first = (ms / DAY) * aDay;
        // All waiting jobs are tried each minute, so simulating a pause of a whole day takes as long as a month.
        const maxPauseMs = ms % (56 * DAY) === 0 ? DAY : 2 * HOUR;
        return deedsOf(dice, { jobs: aDay, calmFromMs: DAY, maxPauseMs })
          .map((deed) => ('job' in deed ? { ...deed, job: deed.job + first } : deed))
          .map((deed) => ({ ...deed, atMs: deed.atMs + ms }));
      }),
      ...deedsOnBatches(dice, { batches, calmFromMs: endMs }),
      ...each(7, (ms) => [{ kind: 'deploy' as const, atMs: ms + dice.below(DAY) }]),
      ...each(1, (ms) => [{ kind: 'prune' as const, atMs: ms + 6 * HOUR + dice.below(HOUR) }]),
    ],
    spells: [
      ...each(1, (ms) => {
        const fromMs = ms + dice.below(22 * HOUR);
        return spellsOf(dice, 2 * HOUR)
          .slice(0, 2)
          .map((spell) => ({ ...spell, fromMs: spell.fromMs + fromMs, toMs: spell.toMs + fromMs }));
      }),
      ...each(14, (ms) => {
        const fromMs = ms + dice.below(10 * DAY);
        return [longSpell(dice, { fromMs, toMs: fromMs + HOUR + dice.below(HOUR) })];
      }),
    ],
    noisePercent: 1,
    crashPercent: 0.15,
    pausePercent: 0.2,
    clockPercent: 0.04,
  };
}

function jobOf(dice: Dice): JobPlan {
  const type = dice.pick(['run-function', 'run-function', 'update-formula', 'data-files', 'score'] as const);
  switch (type) {
    case 'run-function':
      return {
        type,
        end: dice.pick<FunctionEnd>(['SUCCESS', 'SUCCESS', 'SUCCESS', 'FAILED', 'RUNNING']),
        mayRepeat: dice.percent(30),
        isNamed: dice.percent(70),
      };
    case 'update-formula':
      return { type };
    case 'data-files':
      return { type, files: 1 + dice.below(3) };
    case 'score':
      return { type, texts: Array.from({ length: 1 + dice.below(4) }, () => dice.below(40)) };
    default:
      return type satisfies never;
  }
}

type Bounds = { readonly jobs: number; readonly calmFromMs: number; readonly maxPauseMs?: number };

function deedsOf(dice: Dice, { jobs, calmFromMs, maxPauseMs = DAY }: Bounds): readonly Deed[] {
  const deeds: Deed[] = Array.from({ length: dice.below(6) }, () => ({
    kind: dice.pick(['cancel', 'redrive', 'redrive', 'send again'] as const),
    job: 1 + dice.below(jobs),
    atMs: dice.below(calmFromMs),
  }));
  if (dice.percent(20)) deeds.push({ kind: 'reset', atMs: dice.below(calmFromMs) });
  if (!dice.percent(20)) return deeds;
  const atMs = dice.below(calmFromMs - MINUTE);
  const lastsMs = dice.below(Math.min(calmFromMs - atMs, maxPauseMs));
  return [...deeds, { kind: 'pause', atMs }, { kind: 'resume', atMs: atMs + lastsMs }];
}
