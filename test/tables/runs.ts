import { sleep } from '../../lib/base/async.ts';
import { parseJson } from '../../lib/base/json/json.ts';
import { countCalls } from '../../lib/platform/events.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import type { Compression } from '../../lib/snapshot/keys.ts';
import { beginRun, scanOfRun } from '../../lib/snapshot/run/begin-run.ts';
import { takeRun } from '../../lib/snapshot/run/take-run.ts';
import { gateNames } from '../../lib/snapshot/scan.ts';
import type { SnapshotRequest } from '../../lib/snapshot/sources/request.ts';
import type { Store } from '../../lib/store/store.ts';
import { cardsListed } from '../sandbox/platform/listed-cards.ts';
import { platformOf } from '../snapshot/sandbox-call.ts';

export type TakenRuns = { readonly sandbox: Sandbox; readonly store: Store };

export type TakenRun = {
  /** The time at which the snapshot starts, ISO 8601. */
  readonly at: string;
  readonly compression?: Compression;
  /** False for a run that a gate may refuse. */
  readonly accept?: boolean;
};

/** Takes a snapshot of the sandbox with the real client, as if it started at the given time, and publishes it. */
export async function takeSnapshot(
  { sandbox, store }: TakenRuns,
  request: SnapshotRequest,
  { at, compression = 'gzip', accept = true }: TakenRun,
) {
  const { observe, counts } = countCalls();
  const { call } = platformOf(sandbox, { observe });
  const clock = { now: () => Date.parse(at), random: Math.random };
  const opened = { store, compression, platform: 'acme.example.com', force: accept, ...clock };
  const saved = await beginRun(request, opened);
  const scan = await scanOfRun(saved.checkpoint, { ...clock, call, store, sleep, pageRows: 100 });
  return takeRun(saved, scan, {
    ...clock,
    store,
    platform: 'acme.example.com',
    callCounts: counts,
    force: false,
    accept: accept ? gateNames : [],
    partBytes: 10_000,
  });
}

/** A record as in the sandbox: its fields, with ids as digits. */
export type Truth = Readonly<Record<string, unknown>>;

/** The records of the sandbox now, by source and key. */
export function truthOf({ calculations, files, state }: Sandbox) {
  const table = (records: Iterable<readonly [string, unknown]>) =>
    new Map([...records].map(([key, record]) => [key, record as Truth]));
  return {
    calculations: table(
      [...calculations()].map((line) => [/^\{"id":(\d+)/.exec(line)?.[1] ?? line, parseJson(line)]),
    ),
    files: table(
      state.fileSets.flatMap(({ id: set }) =>
        [...files(set)].map((line) => {
          const row = parseJson(line) as { readonly id: string };
          return [`${set} ${row.id}`, row] as const;
        }),
      ),
    ),
    cards: table(
      state.datasets.flatMap(({ id: dataset }, index) =>
        cardsListed(state, index).map(({ drills: _, ...row }) => [`${dataset} ${row.id}`, row] as const),
      ),
    ),
  };
}
