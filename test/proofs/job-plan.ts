import { hash } from 'node:crypto';

/** The status that the platform reports for a code function. */
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

/** A text, by its number. */
export const textOf = (text: number): string => `text ${text}`;

/** The SHA-256 of a text in hex, by its number. */
export const hashOf = (text: number): string => hash('sha256', textOf(text));

/** The body of a job's message. Jobs are numbered from 1. */
export function bodyOf(job: JobPlan, number: number): string {
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
        inputVariables: { subject: `subject-${number}` },
        onUnknown: job.mayRepeat ? 'retry' : 'fail',
      });
    case 'update-formula':
      return JSON.stringify({
        ...common,
        ...id,
        calculationId: String(number),
        expression: `subject-${number}`,
      });
    case 'data-files':
      return JSON.stringify({
        ...common,
        ...id,
        ids: Array.from({ length: job.files }, (_, index) => `${number}${index}0`),
      });
    case 'score':
      return JSON.stringify({
        ...common,
        ...id,
        texts: job.texts.map((text, index) => ({ id: `t-${index}`, text: textOf(text) })),
      });
    default:
      return job satisfies never;
  }
}

/** True if the platform may execute the job twice. */
export const mayRepeat = (job: JobPlan): boolean =>
  job.type === 'run-function' ? job.mayRepeat : job.type !== 'update-formula';
