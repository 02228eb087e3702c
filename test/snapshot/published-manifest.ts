import type { Manifest } from '../../lib/snapshot/manifest.ts';

/** A manifest of an ordinary published run; a test gives only what matters to it. */
export function publishedManifest(differences: Partial<Manifest> = {}): Manifest {
  return {
    version: 1,
    source: 'calculations',
    run: '20261120T091500Z-3fa9c1',
    selection: {},
    startedAt: '2026-11-20T09:15:00.000Z',
    finishedAt: '2026-11-20T09:16:00.000Z',
    platform: 'acme.example.com',
    records: 0,
    totals: { start: 0, end: 0 },
    consistency: 'proved',
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
  };
}
