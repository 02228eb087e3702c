import { type JobType, jobTypes } from '../lib/contract.ts';
import type { CompleteSettings } from './config-schema.ts';

/** A job that changes a calculation for everybody: only an instance whose `allow` names it takes it. */
export const CHANGES_FORMULAS = 'update-formula' satisfies JobType;

/** The job types that an instance takes: without them, it needs neither their functions nor their alarms. */
export const allowedTypes = ({ allow }: Pick<CompleteSettings, 'allow'>): readonly JobType[] =>
  allow?.types ?? jobTypes.filter((type) => type !== CHANGES_FORMULAS);
