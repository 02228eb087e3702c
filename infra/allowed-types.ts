import { type Allow, allowFault, type Job, type JobType, jobTypes } from '../lib/contract.ts';
import { isToken } from './config-fields.ts';
import type { RuleFault } from './config-schedules.ts';
import { allow, type CompleteSettings } from './config-schema.ts';

/** The job type that changes calculations for all users. An instance accepts it only if its `allow` lists it. */
export const CHANGES_FORMULAS = 'update-formula' satisfies JobType;

/** The job types that an instance accepts. It needs functions and alarms only for these. */
export const allowedTypes = ({ allow: given }: Pick<CompleteSettings, 'allow'>): readonly JobType[] =>
  given?.types ?? jobTypes.filter((type) => type !== CHANGES_FORMULAS);

/** The types of jobs that an instance creates itself, by the field that configures them. */
const OWN_JOBS = {
  schedules: 'snapshot',
  functions: 'run-function',
  eventRules: 'run-function',
  functionsQueue: 'run-function',
  textsQueue: 'score',
} as const;

/** Finds jobs that the instance creates itself even though its `allow` forbids them: its workers would refuse them. */
export function allowFaults(instance: Readonly<Record<string, unknown>>): readonly RuleFault[] {
  const parsed = allow.safeParse(instance['allow'] ?? {});
  if (!parsed.success) return [];
  const { types } = parsed.data;
  const missing = Object.entries(OWN_JOBS).filter(
    ([field, type]) => itemsOf(instance[field]).length > 0 && types?.includes(type) === false,
  );
  if (missing.length > 0)
    return missing.map(([field, type]) => ({
      path: ['allow', 'types'],
      expected: `${type} in the list, or no ${field}`,
    }));
  if ([...(parsed.data.packages ?? []), ...(parsed.data.functions ?? [])].some(isToken)) return [];
  return (['functions', 'eventRules'] as const).flatMap((list) =>
    itemsOf(instance[list]).flatMap((item, index) => {
      if (FUNCTION_FIELDS.some((field) => isToken(Reflect.get(item, field)))) return [];
      if (FUNCTION_FIELDS.some((field) => typeof Reflect.get(item, field) !== 'string')) return [];
      const fault = allowFault(parsed.data as Allow, { ...item, type: 'run-function' } as Job);
      return fault === undefined ? [] : [{ path: [list, index, fieldOf(fault)], expected: ALLOWED }];
    }),
  );
}

/** The fields that name a code function. The schema reports missing fields. */
const FUNCTION_FIELDS = ['packageId', 'packageVersion', 'functionName'];

const itemsOf = (value: unknown): readonly object[] => (Array.isArray(value) ? value : []);
const fieldOf = (fault: string) => fault.slice(0, fault.indexOf(':'));
const ALLOWED = 'a value that allow lists (add it there)';
