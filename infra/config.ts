import type * as z from 'zod/mini';
import { allowFaults } from './allowed-types.ts';
import { minWorkers } from './capacity.ts';
import { arnFaults, type Home, textAt } from './config-arns.ts';
import { loopFaults } from './config-events.ts';
import { isToken } from './config-fields.ts';
import { followFaults, scheduleRules } from './config-schedules.ts';
import { type CompleteSettings, configSchema, type Instance, settingsSchema } from './config-schema.ts';

/** The error for an invalid configuration. It lists every fault with its field. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[], where = 'platform-sync in the context') {
    super(`${where}: wrong settings\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Reads the context value `platform-sync`: the object `{instances: […]}`, or its JSON as a string, as `-c` passes it.
 * Throws `ConfigError` with every fault.
 */
export function readConfig(context: unknown): readonly Instance[] {
  const input = typeof context === 'string' ? fromText(context) : context;
  const parsed = configSchema.safeParse(input);
  const faults = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, input))),
    ...ruleFaults(input),
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  return parsed.data.instances;
}

/** The settings of one instance from props, with its account and region. */
export type SettingsInput = {
  readonly settings: Readonly<Record<string, unknown>>;
  /** The path of the construct, for messages. */
  readonly where: string;
  readonly home: Home;
};

/** Reads the settings of one instance. Throws `ConfigError` with every fault. */
export function readSettings({ settings, where, home }: SettingsInput): CompleteSettings {
  const parsed = settingsSchema.safeParse(settings);
  const faults = [
    ...(parsed.success ? [] : parsed.error.issues.flatMap((issue) => faultsOf(issue, settings))),
    ...instanceFaults({ ...settings, ...home }, (path, expected) => faultText(path, expected, settings)),
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults, where);
  return parsed.data;
}

function fromText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError([`platform-sync: expected JSON, got invalid JSON (${text.length} characters)`]);
  }
}

function faultsOf(issue: z.core.$ZodIssue, input: unknown): readonly string[] {
  const { path } = issue;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => faultText([...path, key], 'no such field', input));
  return [faultText(path, issue.message, input)];
}

type Raw = Readonly<Record<string, unknown>>;

/**
 * Checks rules that concern several fields. They are checked on the raw values, so that all faults are found together.
 */
function ruleFaults(input: unknown): readonly string[] {
  const instances = listIn(input, 'instances');
  const empty =
    isObject(input) && Array.isArray(input['instances']) && instances.length === 0
      ? [faultText(['instances'], 'at least one instance', input)]
      : [];
  return [
    ...empty,
    ...repeated(instances, ({ name }) => name).map((index) =>
      faultText(['instances', index, 'name'], 'a name that no other instance has', input),
    ),
    ...instances.flatMap((instance, index) =>
      instanceFaults(instance, (path, expected) => faultText(['instances', index, ...path], expected, input)),
    ),
  ];
}

type Describe = (path: readonly PropertyKey[], expected: string) => string;

function instanceFaults(instance: Raw, describe: Describe): readonly string[] {
  const schedules = listIn(instance, 'schedules');
  const functions = listIn(instance, 'functions');
  const rules = listIn(instance, 'eventRules');
  const { workers } = instance;
  const minimum = minWorkers({ snapshots: schedules.length, textsQueue: instance['textsQueue'] === true });
  return [
    ...schedules.flatMap((schedule, index) =>
      scheduleRules
        .filter(({ holds }) => !holds(schedule))
        .map(({ at, expected }) => describe(['schedules', index, at], expected)),
    ),
    ...repeated(schedules, ({ source, as = '' }) => `${source}.${as}`).map((index) =>
      describe(['schedules', index, 'as'], 'a place that no other schedule has'),
    ),
    ...repeated(functions, ({ name }) => name).map((index) =>
      describe(['functions', index, 'name'], 'a name that no other function has'),
    ),
    ...repeated(rules, ({ name }) => name).map((index) =>
      describe(['eventRules', index, 'name'], 'a name that no other rule has'),
    ),
    ...schedules.flatMap(({ digest }, index) =>
      digest === true && instance['writeReport'] === false
        ? [describe(['schedules', index, 'digest'], 'false or absent, since writeReport is false')]
        : [],
    ),
    ...[
      ...followFaults(schedules),
      ...allowFaults(instance),
      ...arnFaults(instance),
      ...loopFaults(rules, { bucket: textAt(instance, 'bucket'), prefix: textAt(instance, 'prefix') }),
    ].map((fault) => describe(fault.path, fault.expected)),
    ...(rules.length > 0 && instance['functionsQueue'] === false
      ? [describe(['functionsQueue'], 'true or absent: event rules send to this queue')]
      : []),
    ...(typeof workers === 'number' && workers < minimum
      ? [describe(['workers'], `at least ${minimum}: 2 for jobs, 2 for code functions, 1 for each schedule`)]
      : []),
  ];
}

/** The indexes of items whose key an earlier item has. */
function repeated(list: readonly Raw[], keyOf: (raw: Raw) => unknown): readonly number[] {
  const keys = list.map(keyOf);
  return keys.flatMap((key, index) => (key !== undefined && keys.indexOf(key) < index ? [index] : []));
}

function listIn(value: unknown, name: string): readonly Raw[] {
  const list = isObject(value) ? value[name] : undefined;
  return Array.isArray(list) ? list.map((each) => (isObject(each) ? each : {})) : [];
}

const isObject = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function faultText(path: readonly PropertyKey[], expected: string, input: unknown): string {
  let at: unknown = input;
  let name = path.length === 0 ? 'platform-sync' : '';
  for (const [index, key] of path.entries()) {
    at = typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined;
    name += `${index === 0 ? '' : '.'}${String(key)}${labelOf(path[index - 1], at)}`;
  }
  return `${name}: expected ${expected}, got ${preview(at)}`;
}

/** The label of a list's item in messages, after its index: the name of a rule or function, the place of a schedule. */
function labelOf(list: PropertyKey | undefined, item: unknown): string {
  if (!isObject(item)) return '';
  const { name, source, as } = item;
  const label =
    list === 'eventRules' || list === 'functions' ? [name] : list === 'schedules' ? [source, as] : [];
  const texts = label.filter((each) => typeof each === 'string');
  return texts.length === 0 ? '' : ` (${texts.join('.')})`;
}

/** Maximum characters of a value in a message. */
const MAX_PREVIEW = 60;

function preview(value: unknown): string {
  if (isToken(value)) return 'a value that is known only at deployment';
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > MAX_PREVIEW ? `${text.slice(0, MAX_PREVIEW)}…` : text;
}
