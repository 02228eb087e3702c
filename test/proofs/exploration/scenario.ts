import type { JobPlan } from '../job-plan.ts';
import type { Fault } from './faults.ts';

/** What people do, once, at any time. Each repeats the command until it succeeds. */
export type Person = 'cancel' | 'redrive' | 'redrive by id';

/** One small world that is explored as a whole. */
export type Scenario = {
  readonly job: Extract<JobPlan, { readonly type: 'run-function' }>;
  /** `invocation`: a deadline, and death at it. `process`: a lease that is renewed as long as it runs. */
  readonly worker: 'invocation' | 'process';
  /** Nobody renews the lease of a process: it is held up as a whole. Default: it is renewed. */
  readonly isHeldUp?: true;
  /** How many messages ask for the job from the start. */
  readonly messages: number;
  readonly people: readonly Person[];
  /**
   * `settled`: with the adapter's own rounds (`settleWrite`), each request of which is a step. `loses SENT`: so too, and
   * the response to each write of SENT is lost, which is no fault.
   */
  readonly table: 'plain' | 'settled' | 'loses SENT';
  /** The faults that happen here. Default: all. */
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
  'a table with lost responses': { ...base, table: 'settled' },
  'a renewed lease, and a table that loses each response to SENT': {
    ...base,
    worker: 'process',
    table: 'loses SENT',
  },
} as const satisfies Readonly<Record<string, Scenario>>;

export type ScenarioName = keyof typeof scenarios;
