import type { GateName } from '../snapshot/gate-names.ts';
import type { Manifest } from '../snapshot/manifest.ts';
import type { Publication } from '../snapshot/publish/publish.ts';
import type { Store } from '../store/store.ts';
import { exitCodes, shownLines, type Terminal } from './terminal.ts';

/** Shows a finished run, as its manifest or in words, and returns the exit code. */
export function showPublication(
  publication: Publication,
  store: Pick<Store, 'location'>,
  flags: { readonly json?: true },
  { out, err }: Pick<Terminal, 'out' | 'err'>,
): number {
  const { kind, manifest } = publication;
  const words = shownLines(describePublication(publication, store));
  out(flags.json ? JSON.stringify(manifest, undefined, 2) : words);
  if (flags.json && kind !== 'published') err(words);
  return kind === 'published' ? exitCodes.done : exitCodes.incomplete;
}

/** A finished run in a few lines, for people. */
function describePublication(publication: Publication, store: Pick<Store, 'location'>): string {
  const { manifest, key } = publication;
  const bytes = manifest.parts.reduce((sum, part) => sum + part.bytes, 0);
  const seconds = (Date.parse(manifest.finishedAt) - Date.parse(manifest.startedAt)) / 1000;
  const { requests, retries, throttled } = manifest.calls;
  return [
    `${manifest.source}: ${count(manifest.records, 'record')} in ${count(manifest.parts.length, 'part')}, ${size(bytes)}, ${seconds.toFixed(1)} s`,
    `consistency: ${manifest.consistency}, in the order of ${manifest.order}`,
    `calls: ${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}, ${throttled} throttled`,
    ...(manifest.idsFrom === undefined ? [] : [`ids from: ${manifest.idsFrom}`]),
    ...missing(manifest),
    ...(manifest.changes === null ? [] : [changed(manifest.changes)]),
    ...outcome(publication),
    `manifest: ${store.location}/${key}`,
  ].join('\n');
}

/** The most ids that a line names; the manifest names all. */
const SHOWN_MISSING = 5;

function missing({ missing: ids }: Manifest): readonly string[] {
  if (ids.length === 0) return [];
  const shown = ids.slice(0, SHOWN_MISSING).map(({ id, status }) => `${id} (${status})`);
  return [
    `missing: ${[...shown, ...(ids.length > SHOWN_MISSING ? [`and ${ids.length - SHOWN_MISSING} more`] : [])].join(', ')}`,
  ];
}

const changed = ({ against, added, removed, changed: different }: NonNullable<Manifest['changes']>) =>
  `changes: ${added} added, ${removed} removed, ${different} changed since run ${against}`;

function outcome(publication: Publication): readonly string[] {
  const { kind, manifest } = publication;
  switch (kind) {
    case 'published':
      return manifest.forced
        ? [`published by force, although refused as: ${manifest.refused.join(', ')}`]
        : [`published${manifest.accepted?.length ? `; accepted: ${manifest.accepted.join(', ')}` : ''}`];
    case 'refused':
      return [
        `not published; refused as: ${manifest.refused.join(', ')}`,
        ...manifest.refused.map((reason) => `  ${REASONS[reason as GateName] ?? reason}`),
        ...(publication.broken === undefined ? [] : [`  ${publication.broken}`]),
        `the last published run stays as it is; to publish this one anyway: platform-sync publish ${manifest.source} ${manifest.run} --force`,
      ];
    case 'superseded':
      return [
        `not published: run ${publication.latest.run}, which started later, has been published in the meantime`,
        `to publish this one anyway: platform-sync publish ${manifest.source} ${manifest.run} --force`,
      ];
    default:
      return publication satisfies never;
  }
}

const REASONS = {
  empty: 'empty: no records, although the last run had some',
  shrunk: 'shrunk: fewer than half of the last run’s records',
  degraded: 'degraded: the platform kept reporting that its responses may lack rows',
  type: 'type: a field has a different JSON type from the last run’s',
  selection: 'selection: the run does not request the same records as the last run',
  platform: 'platform: the last run was taken from another platform (PLATFORM_BASE_URL)',
  incomplete: 'incomplete: nothing that was requested could be read',
  future: 'future: the run started in the future, so the clock of the machine that began it was wrong',
  broken: 'broken: the last published run is missing or damaged, so this one cannot be compared with it',
  unproved: 'unproved: it could not be proved that no record was lost while the pages were read',
} as const satisfies Record<GateName, string>;

const count = (number: number, one: string, many = `${one}s`) =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

const size = (bytes: number) =>
  bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
