import type { JobTypeDefinition, RunnerParts } from '../../lib/jobs/types/job-type-definition.ts';

/** The runner of a job type that needs only the platform. */
export const runnerOf =
  <Message extends { readonly type: string; readonly id?: string | undefined }>(
    definition: JobTypeDefinition<Message>,
    platform: Partial<RunnerParts['platform']>,
  ): Awaited<ReturnType<JobTypeDefinition<Message>['openRunner']>> =>
  async (job, turn) =>
    (await definition.openRunner({ platform } as RunnerParts))(job, turn);
