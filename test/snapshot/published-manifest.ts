import type { Run } from '../../lib/snapshot/keys.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import type { readFinishedRun } from '../../lib/snapshot/publish/publish.ts';

export type FinishedRun = Awaited<ReturnType<typeof readFinishedRun>>;

const ORDINARY = {
  version: 1,
  source: 'calculations',
  selection: {},
  platform: 'acme.example.com',
  consistency: 'proved',
  assumes: [],
  begunAfter: null,
  passes: 1,
  order: 'id',
  missing: [],
  parts: [],
  calls: { requests: 2, retries: 0, throttled: 0, waitedMs: 0 },
} satisfies Partial<Manifest>;

/** The manifest of an ordinary published run, with the differences that matter to a test. Its parts add up to its records. */
export function publishedManifest(differences: Partial<Manifest> = {}): Manifest {
  return addedUp({
    ...ORDINARY,
    run: '20261120T091500Z-3fa9c1',
    startedAt: '2026-11-20T09:15:00.000Z',
    finishedAt: '2026-11-20T09:16:00.000Z',
    records: recordsIn(differences.parts ?? []),
    totals: { start: 0, end: 0 },
    fields: {},
    changes: null,
    publishable: true,
    refused: [],
    accepted: [],
    forced: false,
    ...differences,
  });
}

/** The manifest of an ordinary run that is to be published. */
export function finishedManifest(run: Run, differences: Partial<FinishedRun> = {}): FinishedRun {
  const { records = recordsIn(differences.parts ?? []) } = differences;
  return addedUp<FinishedRun>({
    ...ORDINARY,
    run: run.id,
    startedAt: run.startedAt,
    finishedAt: run.startedAt,
    records,
    totals: { start: records, end: records },
    fields: { id: ['number'] },
    scanRefused: [],
    ...differences,
  });
}

const recordsIn = (parts: Manifest['parts']) => parts.reduce((sum, { records }) => sum + records, 0);

const PART = { key: 'part', records: 0, bytes: 0, sha256: '', firstKey: '', lastKey: '' };

/** Adds the missing records to the last part, since a manifest whose parts do not add up cannot be read. */
function addedUp<M extends Pick<Manifest, 'records' | 'parts'>>(manifest: M): M {
  const { records, parts } = manifest;
  const missing = records - recordsIn(parts);
  if (missing === 0) return manifest;
  const last = parts.at(-1) ?? PART;
  return { ...manifest, parts: [...parts.slice(0, -1), { ...last, records: last.records + missing }] };
}
