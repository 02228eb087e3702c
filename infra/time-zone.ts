import { TimeZone } from 'aws-cdk-lib';

/** UTC, and the zones with a fixed offset: neither CDK nor Node lists them. */
const FIXED_ZONES = [
  'UTC',
  'GMT',
  'Etc/UTC',
  'Etc/GMT',
  ...range(-14, 12).map((hours) => `Etc/GMT${signed(hours)}`),
];

/** The IANA zone of an unconfigured machine, which CDK also lists. */
const NO_ZONE = 'Factory';

/** The IANA names of all zones that CDK or Node lists, spelled as EventBridge Scheduler expects them. */
const ZONES: ReadonlySet<string> = new Set([
  ...FIXED_ZONES,
  ...Intl.supportedValuesOf('timeZone'),
  ...Object.getOwnPropertyNames(TimeZone).flatMap((name) => {
    const zone: unknown = Reflect.get(TimeZone, name);
    return zone instanceof TimeZone && zone.timezoneName !== NO_ZONE ? [zone.timezoneName] : [];
  }),
]);

/** What was expected instead of `zone`; undefined if it is the IANA name of a time zone. */
export function timeZoneFault(zone: string): string | undefined {
  if (ZONES.has(zone)) return undefined;
  const suggestion =
    ZONES.values().find((each) => each.toLowerCase() === zone.toLowerCase()) ?? sameZone(zone);
  return `the IANA name of a time zone, such as ${suggestion ?? 'Europe/Berlin'}`;
}

/** The current name of a zone with an outdated name, such as US/Pacific. */
function sameZone(name: string): string | undefined {
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    return ZONES.has(timeZone) ? timeZone : undefined;
  } catch {
    return undefined;
  }
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).filter((each) => each !== 0);
}

function signed(hours: number): string {
  return hours < 0 ? `${hours}` : `+${hours}`;
}
