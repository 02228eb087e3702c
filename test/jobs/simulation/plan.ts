import * as fc from 'fast-check';
import { allTroubles, type ScheduleOptions } from './schedule.ts';

/** How a function ends, as the platform reports it. */
export type FunctionEnd = 'SUCCESS' | 'FAILED' | 'RUNNING';

export type JobPlan =
  | {
      readonly type: 'run-function';
      readonly end: FunctionEnd;
      readonly mayRepeat: boolean;
      readonly isNamed: boolean;
    }
  | { readonly type: 'update-formula' }
  | { readonly type: 'data-files'; readonly files: number }
  | { readonly type: 'score'; readonly texts: readonly number[] };

/** What people and other senders do to a job; `job` is its index, modulo the number of jobs. */
export type Deed = {
  readonly kind: 'cancel' | 'reopen' | 'send again' | 'send another content';
  readonly job: number;
  readonly afterMs: number;
};

/** One schedule: who works on what, who interferes, and what goes wrong. The dice of the world do the rest. */
export type Plan = ScheduleOptions & {
  readonly workers: readonly ('deadline' | 'renewed')[];
  readonly jobs: readonly JobPlan[];
  readonly deeds: readonly Deed[];
  readonly nonsense: readonly string[];
  /** The table settles its writes, as the adapter of DynamoDB does. */
  readonly settles: boolean;
};

const job: fc.Arbitrary<JobPlan> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('run-function' as const),
      end: fc.constantFrom<FunctionEnd>('SUCCESS', 'SUCCESS', 'FAILED', 'RUNNING'),
      mayRepeat: fc.constantFrom(false, false, true),
      isNamed: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('update-formula' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('data-files' as const), files: fc.integer({ min: 1, max: 2 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('score' as const),
      texts: fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
    }),
  },
);

const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.constantFrom('cancel', 'reopen', 'reopen', 'send again', 'send another content'),
  job: fc.nat(2),
  afterMs: fc.constantFrom(0, 10, 1_000, 60_000, 400_000, 2_000_000),
});

export const plans: fc.Arbitrary<Plan> = fc.record({
  seed: fc.integer(),
  workers: fc.array(fc.constantFrom('deadline', 'renewed'), { minLength: 1, maxLength: 3 }),
  jobs: fc.array(job, { minLength: 1, maxLength: 3 }),
  deeds: fc.array(deed, { maxLength: 3 }),
  nonsense: fc.array(fc.constantFrom('no JSON', '{}', '{"version":1,"type":"score","id":"job-1"}'), {
    maxLength: 1,
  }),
  settles: fc.boolean(),
  troubles: fc.subarray([...allTroubles]),
  troublePercent: fc.constantFrom(3, 8, 20),
  troubledSteps: fc.constantFrom(60, 150, 300),
});

/** What a message of the plan says; jobs are numbered from 1. */
export function bodyOf(job: JobPlan, number: number, content = ''): string {
  const id = { id: `job-${number}` };
  const common = { version: 1, type: job.type };
  switch (job.type) {
    case 'run-function':
      return JSON.stringify({
        ...common,
        ...(job.isNamed ? id : {}),
        packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
        packageVersion: '1.0.0',
        functionName: 'add',
        inputVariables: { subject: `subject-${number}${content}` },
        onUnknown: job.mayRepeat ? 'retry' : 'fail',
      });
    case 'update-formula':
      return JSON.stringify({
        ...common,
        ...id,
        calculationId: String(number),
        expression: `subject-${number}${content}`,
      });
    case 'data-files':
      return JSON.stringify({
        ...common,
        ...id,
        ids: Array.from({ length: job.files }, (_, index) => `${number}${index}${content.length}`),
      });
    case 'score':
      return JSON.stringify({
        ...common,
        ...id,
        texts: job.texts.map((text, index) => ({ id: `t-${index}`, text: `text ${text}${content}` })),
      });
    default:
      return job satisfies never;
  }
}

/** True if the platform may execute it twice. */
export const mayRepeat = (job: JobPlan): boolean =>
  job.type === 'run-function' ? job.mayRepeat : job.type !== 'update-formula';
