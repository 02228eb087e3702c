import type { JobTypeDefinition } from '../job-type-definition.ts';
import { type DataFilesInput, type DataFilesMessage, dataFilesChecks } from './message.ts';

/** Reads the metadata of data files. */
export const dataFiles: JobTypeDefinition<DataFilesMessage, DataFilesInput> = {
  checks: dataFilesChecks,
  mayRepeat: () => true,
  stopsWhenCancelled: true,
  mustLastMs: (timeoutMs) => timeoutMs,
  allowFault: () => undefined,
  mostCalls: ({ ids }) => ids.length,
  openRunner: async ({ platform }) => (await import('./runner.ts')).dataFilesRunner(platform.call),
  afterEnd: async () => undefined,
  beforeReopen: async () => undefined,
  sample: ({ dataFileIds }) => ({
    version: 1,
    type: 'data-files',
    id: 'tour-files',
    ids: dataFileIds.slice(0, 2),
  }),
};
