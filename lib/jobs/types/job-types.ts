/** What a job may do, by the `type` of its message. */
export const jobTypes = ['run-function', 'score', 'update-formula', 'data-files', 'snapshot'] as const;

export type JobType = (typeof jobTypes)[number];
