import { canonicalJson, own } from '../../base/json/index.ts';
import { runOfKey } from '../keys.ts';
import type { Latest, Manifest } from '../manifest.ts';
import { isSamePlatform } from '../same-platform.ts';
import type { GateName } from '../scan.ts';

export type GatedRun = Pick<
  Manifest,
  'records' | 'fields' | 'selection' | 'platform' | 'consistency' | 'startedAt'
> & {
  /** The gates that refuse the run because of what the scan itself found, such as `degraded`. */
  readonly scanRefused: readonly GateName[];
};

const CLOCKS_APART_MS = 300_000;

/** True for a time that lies ahead of every clock that is nearly right. */
const isFuture = (time: string, nowMs: number): boolean => Date.parse(time) > nowMs + CLOCKS_APART_MS;

type Begun = Pick<Manifest, 'run' | 'startedAt' | 'begunAfter'>;

/**
 * True if the run began before the latest one did: another publication was the last when each of them began. Their clocks
 * decide only where that says nothing: nothing was published between their starts, or nobody knows in which order.
 */
export function isSuperseded({ run, startedAt, begunAfter }: Begun, latest: Begun & Pick<Latest, 'earlier'>) {
  if (latest.run === run || latest.run === begunAfter) return false;
  const published = latest.earlier.map(runOfKey);
  const placeOf = (one: string | null) => {
    if (one === null) return -1;
    const place = published.indexOf(one);
    return place >= 0 && place === published.lastIndexOf(one) ? place : Number.NaN;
  };
  const place = placeOf(begunAfter);
  const latestPlace = placeOf(latest.begunAfter);
  if (place > latestPlace) return false;
  return place < latestPlace || latest.startedAt >= startedAt;
}

/** The reasons that are known before the first request. */
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

/** The reasons not to publish a run, in a fixed order. `last` is published now; `isBroken`: it is missing or damaged. */
export function refusals(
  run: GatedRun,
  last: Manifest | undefined,
  { isBroken, nowMs }: { readonly isBroken: boolean; readonly nowMs: number },
): readonly GateName[] {
  const known = knownRefusals(run, last);
  const gates: Readonly<Record<GateName, boolean>> = {
    empty: last !== undefined && last.records > 0 && run.records === 0,
    shrunk: last !== undefined && run.records > 0 && run.records < last.records / 2,
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
 * True if a field has none of the JSON types that it had before. Null and added or removed fields are ignored, and so is a
 * type beside one from before: some records may be odd, which fails no run.
 */
function typeChanged(now: Manifest['fields'], before: Manifest['fields']): boolean {
  return Object.entries(now).some(([name, types]) => {
    const known = own(before, name)?.filter((type) => type !== 'null') ?? [];
    const found = types.filter((type) => type !== 'null');
    return known.length > 0 && found.length > 0 && !found.some((type) => known.includes(type));
  });
}
