import * as z from 'zod/mini';
import { own } from '../../base/index.ts';
import { canonicalJson } from '../../base/json/index.ts';
import { jsonSetting } from '../../locations.ts';
import { type Place, placeSchema, runOfKey, sourceOf } from '../keys.ts';
import type { Latest, Manifest } from '../manifest.ts';
import type { GateName, MissingId } from '../scan.ts';
import { linkedTo } from '../sources/request.ts';

type GatedRun = Pick<
  Manifest,
  'records' | 'fields' | 'selection' | 'platform' | 'consistency' | 'startedAt'
> & {
  /** The gates that refuse the run because of what the scan itself found, such as `degraded`. */
  readonly scanRefused: readonly GateName[];
};

const SHARE = { error: 'a share of the last run’s records from 0 to 1, or null for never' };

const gateFields = {
  /**
   * A run is refused as `shrunk` if it has less than this share of the last run's records, 0 to 1; null: it is never
   * refused as `shrunk`. Default, for a place without an entry: 0.5.
   */
  shrunk: z.nullable(z.number(SHARE).check(z.minimum(0, SHARE), z.maximum(1, SHARE))),
};

export interface GateSchema extends z.ZodMiniObject<typeof gateFields, z.core.$strict> {}
const gate: GateSchema = z.strictObject(gateFields, { error: 'an object of shrunk' });

/** Schema of the setting SYNC_GATES: gates by place. The gates of a source do not apply to its narrowed snapshots. */
export const gatesSchema = z.partialRecord(placeSchema, gate, {
  error: 'an object by place: SOURCE or SOURCE.NAME',
});

/** The configured gates by place: see `gatesSchema`. */
export type Gates = z.infer<typeof gatesSchema>;

/** Parses the setting SYNC_GATES; undefined: every place has the default. Throws `SettingsError` with all faults. */
export const readGates = (text: string | undefined): Gates =>
  text === undefined ? {} : jsonSetting('SYNC_GATES', text, gatesSchema);

/** The minimum share of the last run's records that a run of a place must have, 0 to 1; null if there is no minimum. */
export const minShareOf = (gates: Gates, place: Place): number | null =>
  (own(gates, place) ?? { shrunk: 0.5 }).shrunk;

const MAX_CLOCK_ERROR_MS = 300_000;

/** Whether a time is further in the future than the difference between two correct clocks. */
const isFuture = (time: string, nowMs: number): boolean => Date.parse(time) > nowMs + MAX_CLOCK_ERROR_MS;

/**
 * Whether the run began before the latest run did. Their `begunAfter` decides: for each, the run that was the last
 * published one when it began. Their clocks decide only if both have the same `begunAfter`, or if the order of the two
 * is unknown.
 */
export function isSuperseded(
  { run, startedAt, begunAfter }: Pick<Manifest, 'run' | 'startedAt' | 'begunAfter'>,
  latest: Pick<Manifest, 'run' | 'startedAt' | 'begunAfter'> & Pick<Latest, 'earlier'>,
) {
  if (latest.run === run || latest.run === begunAfter) return false;
  const published = latest.earlier.map(runOfKey);
  const indexOf = (runBefore: string | null) => {
    if (runBefore === null) return -1;
    const index = published.indexOf(runBefore);
    return index >= 0 && index === published.lastIndexOf(runBefore) ? index : Number.NaN;
  };
  const index = indexOf(begunAfter);
  const latestIndex = indexOf(latest.begunAfter);
  if (index > latestIndex) return false;
  return index < latestIndex || latest.startedAt >= startedAt;
}

/** The gates that the run is certain to fail, as known before its first request. */
export function knownRefusals(
  run: Pick<GatedRun, 'selection' | 'platform'>,
  last: Manifest | undefined,
): readonly GateName[] {
  if (last === undefined) return [];
  return [
    ...(canonicalJson(run.selection) === canonicalJson(last.selection) ? [] : (['selection'] as const)),
    ...(isSamePlatform(run.platform, last.platform) ? [] : (['platform'] as const)),
  ];
}

/**
 * The gates that a run fails, in a fixed order. `last`: the last published run; `isBroken`: whether an object of that
 * run is missing or damaged; `minShare`: the result of `minShareOf`.
 */
export function refusals(
  run: GatedRun,
  last: Manifest | undefined,
  {
    isBroken,
    nowMs,
    minShare,
  }: { readonly isBroken: boolean; readonly nowMs: number; readonly minShare: number | null },
): readonly GateName[] {
  const known = knownRefusals(run, last);
  const gates: Readonly<Record<GateName, boolean>> = {
    empty: last !== undefined && last.records > 0 && run.records === 0,
    shrunk: last !== undefined && run.records > 0 && run.records < last.records * (minShare ?? 0),
    degraded: run.scanRefused.includes('degraded'),
    type: last !== undefined && typeChanged(run.fields, last.fields),
    selection: known.includes('selection'),
    platform: known.includes('platform'),
    unproved: run.consistency === 'best-effort',
    incomplete: run.scanRefused.includes('incomplete'),
    future: isFuture(run.startedAt, nowMs),
    broken: isBroken,
  };
  return (Object.keys(gates) as GateName[]).filter((name) => gates[name]);
}

/**
 * Whether some field has none of the JSON types that it had before. Null, added fields and removed fields are ignored.
 * So is a new type in addition to an old one, since a few odd records must not fail a run.
 */
function typeChanged(now: Manifest['fields'], before: Manifest['fields']): boolean {
  return Object.entries(now).some(([name, types]) => {
    const known = own(before, name)?.filter((type) => type !== 'null') ?? [];
    const found = types.filter((type) => type !== 'null');
    return known.length > 0 && found.length > 0 && !found.some((type) => known.includes(type));
  });
}

type Refused = Pick<
  Manifest,
  | 'refused'
  | 'records'
  | 'totals'
  | 'passes'
  | 'degradedPages'
  | 'order'
  | 'calls'
  | 'missing'
  | 'lastSizes'
  | 'minShare'
>;

/**
 * The names of the failed gates, in one line, with the number of pages that stayed degraded: `degraded (3 pages),
 * shrunk`.
 */
export const refusedAs = ({
  refused,
  degradedPages = 0,
}: Pick<Refused, 'degradedPages'> & { readonly refused: readonly string[] }): string =>
  refused
    .map((reason) =>
      reason === 'degraded' && degradedPages > 0 ? `degraded (${pages(degradedPages)})` : reason,
    )
    .join(', ');

const pages = (found: number): string => `${count(found)} ${found === 1 ? 'page' : 'pages'}`;

/** The number of pages that stayed degraded, in words, as a list of one; an empty list if no page did. */
export const degradedWords = (degradedPages = 0): readonly string[] =>
  degradedPages === 0 ? [] : [`${pages(degradedPages)} stayed degraded`];

/**
 * Why a run was refused, one line for each failed gate, followed by the figures of the scan if they matter. Empty for a
 * run that was not refused.
 */
export function refusalWords(manifest: Refused): readonly string[] {
  const { refused } = manifest;
  const reasons = refused.map((reason) => {
    const words = REFUSAL_TEXTS[reason as GateName] ?? reason;
    return typeof words === 'string' ? words : words(manifest);
  });
  const isFromScan = refused.some((reason) => SCAN_GATES.includes(reason as GateName));
  return isFromScan ? [...reasons, `read: ${readWords(manifest)}`] : reasons;
}

/** The gates that depend on what the scan read. The other gates depend on the selection, the clock or the last run. */
const SCAN_GATES: readonly GateName[] = ['empty', 'shrunk', 'degraded', 'unproved', 'incomplete'];

/**
 * The figures of the scan: `19,950 records by 2 passes in the order of id; the platform counted 20,000 at the
 * start and 20,010 at the end; …`.
 */
function readWords({ records, totals, passes, degradedPages, order, calls, missing }: Refused): string {
  const { start, end } = totals;
  const ends = [
    start === null ? [] : `${count(start)} at the start`,
    end === null ? [] : `${count(end)} at the end`,
  ];
  const counted = ends.flat().join(' and ');
  return [
    `${count(records)} records by ${count(passes)} ${passes === 1 ? 'pass' : 'passes'} in the order of ${order}`,
    ...(counted === '' ? [] : [`the platform counted ${counted}`]),
    ...degradedWords(degradedPages),
    ...(missing.length === 0 ? [] : [`${count(missing.length)} ids could not be read`]),
    `${count(calls.requests)} requests, ${count(calls.retries)} retries`,
  ].join('; ');
}

const count = (value: number): string => value.toLocaleString('en');

/** The sizes of earlier runs: `; the last 3 runs had 20,010, 20,000 and …`; empty if they could not be read. */
function sizeWords({ lastSizes = [] }: Refused): string {
  if (lastSizes.length === 0) return '';
  const runs = lastSizes.length === 1 ? 'the last run' : `the last ${lastSizes.length} runs, newest first,`;
  return `; ${runs} had ${lastSizes.map(count).join(' · ')} records`;
}

const percent = (share: number): string =>
  share.toLocaleString('en', { style: 'percent', maximumFractionDigits: 2 });

const REFUSAL_TEXTS = {
  empty: (run) => `empty: no records, even though the last run had some${sizeWords(run)}`,
  shrunk: (run) =>
    `shrunk: fewer than ${percent(run.minShare ?? 0.5)} of the last run’s records (SYNC_GATES)${sizeWords(run)}`,
  degraded:
    'degraded: the platform kept reporting that its responses may lack rows, even when the page was read again',
  type: 'type: a field has none of the JSON types that it had in the last run',
  selection: 'selection: the run does not request the same records as the last run',
  platform: 'platform: the last run was taken from another platform (PLATFORM_BASE_URL)',
  incomplete: 'incomplete: nothing that was requested could be read',
  future: 'future: the run started in the future, so the clock of the machine that began it was wrong',
  broken: 'broken: the last published run is missing or damaged, so this run cannot be compared with it',
  unproved: 'unproved: it could not be proved that no record was lost while the pages were read',
} as const satisfies Record<GateName, string | ((run: Refused) => string)>;

/**
 * An id that a run could not read. `since`: when the first of the consecutive runs started in which the id was missing
 * with this status.
 */
type KnownMissing = Manifest['missing'][number];

/** The missing ids of a run, each with the time since which it is missing. `last`: the last published run. */
export function missingSince(
  { missing, startedAt }: { readonly missing: readonly MissingId[]; readonly startedAt: string },
  last: Pick<Manifest, 'missing'> | undefined,
): KnownMissing[] {
  const before = new Map(last?.missing.map((each) => [each.id, each]));
  return missing.map(({ id, status }) => {
    const known = before.get(id);
    return { id, status, since: known?.status === status ? known.since : startedAt };
  });
}

/**
 * The missing ids that are new: the last published run could read them, or had another status for them. In a
 * first run, all ids are new, unless they come from the links of another source.
 */
export function newlyMissing(manifest: Manifest): readonly KnownMissing[] {
  const { source, selection, missing, startedAt, begunAfter } = manifest;
  if (!begunAfter && linkedTo(sourceOf(source as Place), selection) !== undefined) return [];
  return missing.filter(({ since }) => since === startedAt);
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/**
 * Whether two hosts are the same platform. All local hosts are, since a local platform may get another port at each
 * start.
 */
export const isSamePlatform = (one: string, other: string): boolean =>
  one === other || (LOOPBACK.test(one) && LOOPBACK.test(other));

type BegunRun = { readonly source: string; readonly run: string; readonly platform: string };

/** Thrown if a run is resumed on another platform than it began on, since that would mix the records of both. */
export class OtherPlatformError extends Error {
  override readonly name = 'OtherPlatformError';

  constructor({ source, run, platform }: BegunRun, host: string) {
    super(`run ${run} of ${source} began on ${platform} and can be resumed only there, not on ${host}`);
  }
}

/** Throws `OtherPlatformError` unless the run began on this platform. `platform`: a host. */
export function checkPlatform(run: BegunRun, platform: string): void {
  if (!isSamePlatform(run.platform, platform)) throw new OtherPlatformError(run, platform);
}
