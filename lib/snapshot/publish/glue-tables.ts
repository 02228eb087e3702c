import type { Source } from '../sources/sources.ts';

/** The Glue table over the published runs of a source: its name may hold no `-`, which SQL would have to quote. */
export const glueTableOf = (source: Source): string => source.replaceAll('-', '_');

/** What tells one partition of those tables from another: the parts of a run's folder, in their order. */
export const gluePartitionKeys = ['dt', 'run'] as const;
