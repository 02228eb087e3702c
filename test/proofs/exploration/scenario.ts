import type { JobPlan } from '../job-plan.ts';

/** The faults, and their effects. Each fault that happens counts against the bound. */
const faults = {
  'no response': 'a request gets none: what it would change is changed then, at any later time, or never',
  'late response': 'a write to the table is made, and its response comes at any later time',
  'a kill': 'a worker or a person’s command dies: what it had asked for is applied later, or never',
  'a second delivery': 'the queue delivers a message while another worker handles it',
  'a pause': 'although there is work, time passes: until a timer, a lease or a deadline ends',
  'a 429': 'the platform refuses the call, and proves by that that nothing was executed',
  'a 400': 'the platform reads the call and rejects it',
  'no slot': 'the pace would make the call wait too long',
  'another id': 'the queue moves a message that was received before, and gives it another id',
} as const;

export type Fault = keyof typeof faults;

export const faultKinds = Object.keys(faults) as readonly Fault[];

/** The commands that people give, once each, at any time. A person repeats a command until it succeeds. */
export type Person = 'cancel' | 'redrive' | 'redrive by id';

/** One small world, of which all schedules are explored. */
export type Scenario = {
  readonly job: Extract<JobPlan, { readonly type: 'run-function' }>;
  /** `invocation`: a worker that is killed at its deadline. `process`: a worker that renews its lease while it runs. */
  readonly worker: 'invocation' | 'process';
  /** The process is stalled as a whole, so it does not renew its lease. Default: it does. */
  readonly isHeldUp?: true;
  /** How many messages ask for the job from the start. */
  readonly messages: number;
  readonly people: readonly Person[];
  /**
   * `settled`: with the DynamoDB adapter's retry rounds (`settleWrite`), of which each request is a step. `loses
   * SENT`: like `settled`, and the response to each write of SENT is lost, which does not count as a fault.
   */
  readonly table: 'plain' | 'settled' | 'loses SENT';
  /** The kinds of faults that happen here. Default: all. */
  readonly only?: readonly Fault[];
};

const job: Scenario['job'] = { type: 'run-function', end: 'SUCCESS', mayRepeat: false, isNamed: true };

const base: Scenario = { job, worker: 'invocation', messages: 1, people: [], table: 'plain' };

export const scenarios = {
  'one message': base,
  'two messages': { ...base, messages: 2 },
  'a message without an id': { ...base, job: { ...job, isNamed: false } },
  'a function that may be repeated': { ...base, job: { ...job, mayRepeat: true } },
  'a function that fails, and a redrive': { ...base, job: { ...job, end: 'FAILED' }, people: ['redrive'] },
  'a cancel': { ...base, people: ['cancel'] },
  'a cancel and a redrive of everything': { ...base, people: ['cancel', 'redrive'] },
  'a cancel and a redrive by id': { ...base, people: ['cancel', 'redrive by id'] },
  'a renewed lease': { ...base, worker: 'process' },
  'a renewed lease and two messages': { ...base, worker: 'process', messages: 2 },
  'a renewed lease and a function that may be repeated': {
    ...base,
    job: { ...job, mayRepeat: true },
    worker: 'process',
  },
  'a process that is held up, and dies': {
    ...base,
    worker: 'process',
    isHeldUp: true,
    only: ['a pause', 'a kill'],
  },
  /**
   * Like an operation whose limit is being learned, or whose credits are used up: each call is throttled,
   * postponed, and continued by another worker.
   */
  'an operation that is throttled again and again': {
    ...base,
    messages: 2,
    only: ['a 429', 'no slot', 'a kill'],
  },
  'a table with lost responses': { ...base, table: 'settled' },
  'a renewed lease, and a table that loses each response to SENT': {
    ...base,
    worker: 'process',
    table: 'loses SENT',
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;

/** Maximum number of faults in a schedule: in `npm test`, in CI, and with `--bound hour`. */
const MAX_FAULTS: Readonly<Record<ScenarioName, readonly [test: number, minute: number, hour: number]>> = {
  'one message': [1, 2, 3],
  'two messages': [0, 1, 2],
  'a message without an id': [0, 1, 2],
  'a function that may be repeated': [1, 2, 2],
  'a function that fails, and a redrive': [0, 1, 1],
  'a cancel': [1, 1, 2],
  'a cancel and a redrive of everything': [0, 1, 1],
  'a cancel and a redrive by id': [0, 1, 1],
  'a renewed lease': [1, 1, 1],
  'a renewed lease and two messages': [0, 0, 1],
  'a renewed lease and a function that may be repeated': [0, 1, 1],
  'a process that is held up, and dies': [1, 2, 2],
  'an operation that is throttled again and again': [1, 2, 3],
  'a table with lost responses': [1, 2, 3],
  'a renewed lease, and a table that loses each response to SENT': [1, 1, 1],
};

const boundAt = (place: 0 | 1 | 2) =>
  Object.fromEntries(Object.entries(MAX_FAULTS).map(([name, most]) => [name, most[place]])) as Readonly<
    Record<ScenarioName, number>
  >;

export const bounds = { test: boundAt(0), minute: boundAt(1), hour: boundAt(2) } as const;
