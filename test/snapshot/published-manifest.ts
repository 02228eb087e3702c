import type { Manifest } from '../../lib/snapshot/manifest.ts';

/** A manifest of an ordinary published run; a test gives only what matters to it. Its parts add up to its records. */
export function publishedManifest(differences: Partial<Manifest> = {}): Manifest {
  return addedUp({
    version: 1,
    source: 'calculations',
    run: '20261120T091500Z-3fa9c1',
    selection: {},
    startedAt: '2026-11-20T09:15:00.000Z',
    finishedAt: '2026-11-20T09:16:00.000Z',
    platform: 'acme.example.com',
    records: recordsIn(differences.parts ?? []),
    totals: { start: 0, end: 0 },
    consistency: 'proved',
    assumes: [],
    atRisk: { seconds: 0, requests: 0 },
    begunAfter: null,
    passes: 1,
    order: 'id',
    missing: [],
    parts: [],
    fields: {},
    changes: null,
    calls: { requests: 2, retries: 0, throttled: 0, waitedMs: 0 },
    publishable: true,
    refused: [],
    accepted: [],
    forced: false,
    ...differences,
  });
}

const recordsIn = (parts: Manifest['parts']) => parts.reduce((sum, { records }) => sum + records, 0);

const PART = { key: 'part', records: 0, bytes: 0, sha256: '', firstKey: '', lastKey: '' };

/** The same with as many records in its last part as are lacking, since no other manifest can be read. */
export function addedUp<M extends Pick<Manifest, 'records' | 'parts'>>(manifest: M): M {
  const { records, parts } = manifest;
  const lacking = records - recordsIn(parts);
  if (lacking === 0) return manifest;
  const last = parts.at(-1) ?? PART;
  return { ...manifest, parts: [...parts.slice(0, -1), { ...last, records: last.records + lacking }] };
}
