import type { Call } from '../platform/call.ts';
import type { CallCounts } from '../platform/events.ts';
import type { Store } from '../store/store.ts';
import { calculationPageReader } from './calculation-pages.ts';
import { createFieldTypes } from './field-types.ts';
import { type Compression, type Source, workFolder } from './keys.ts';
import { offsetScan } from './offset-scan.ts';
import { createPartWriter } from './part-writer.ts';
import { type FinishedRun, type Publication, publishRun } from './publish.ts';
import { createRun } from './run-id.ts';

export type SnapshotOptions = {
  readonly call: Call;
  readonly store: Store;
  readonly compression: Compression;
  /** The host that the manifest names. */
  readonly platform: string;
  /** What the calls have come to so far; the manifest tells them at the end. */
  readonly callCounts: () => CallCounts;
  /** Publish although a gate refused. */
  readonly force: boolean;
  /** Told after each page: the records so far, and how many the platform told there are. */
  readonly onProgress?: (progress: SnapshotProgress) => void;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Rows a page asks for. Default 5000, the most the platform allows. */
  readonly pageRows?: number;
  /** Compressed size at which a part is closed, in bytes. */
  readonly partBytes?: number;
};

export type SnapshotProgress = { readonly records: number; readonly total: number | null };

/**
 * Takes all calculations: pages to lines to parts, then the manifest, the gates and publication. Memory holds a page
 * and a part. Throws `PlatformError`, `ScanError` or `StoreError`, or passes the abort through; whatever was
 * published before stays as it was.
 */
export async function snapshotCalculations(options: SnapshotOptions): Promise<Publication> {
  const source: Source = 'calculations';
  const { store, now } = options;
  const run = createRun(now(), options.random);
  const gathered = await gather(options, workFolder(source, run));
  const finished: FinishedRun = {
    version: 1,
    source,
    run: run.id,
    selection: {},
    startedAt: run.startedAt,
    platform: options.platform,
    ...gathered,
    order: 'id',
    missing: [],
    calls: options.callCounts(),
    finishedAt: new Date(now()).toISOString(),
  };
  return publishRun({ store, source, run, finished, force: options.force });
}

/** Scans to the end and stores all parts; answers what the manifest says of the content. */
async function gather(options: SnapshotOptions, folder: string) {
  const { store, compression, signal, sleep, partBytes, pageRows = 5000 } = options;
  const parts = createPartWriter({
    store,
    compression,
    signal,
    folder,
    ...(partBytes === undefined ? {} : { partBytes }),
  });
  const fieldTypes = createFieldTypes();
  let records = 0;
  const scan = offsetScan({ readPage: calculationPageReader(options.call), limit: pageRows, sleep, signal });
  const outcome = await consume(scan, async ({ fresh, total }) => {
    for (const record of fresh) fieldTypes.add(record.value);
    await parts.write(fresh);
    records += fresh.length;
    options.onProgress?.({ records, total });
  });
  return {
    records,
    parts: [...(await parts.end())],
    fields: fieldTypes.seen(),
    totals: outcome.totals,
    degraded: outcome.degraded,
    consistency: outcome.proved ? ('proved' as const) : ('best-effort' as const),
  };
}

/** Hands on all that a generator yields, each once the one before is dealt with, and answers what it returns. */
async function consume<Item, Outcome>(
  generator: AsyncGenerator<Item, Outcome, undefined>,
  each: (item: Item) => Promise<void>,
): Promise<Outcome> {
  for (;;) {
    const step = await generator.next();
    if (step.done) return step.value;
    await each(step.value);
  }
}
