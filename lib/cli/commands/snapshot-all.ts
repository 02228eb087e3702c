import { openSession, type Session } from '../../session.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import { isNamedAfter, requestAgain } from '../../snapshot/history/request-again.ts';
import type { Place } from '../../snapshot/keys.ts';
import { readLastPublication } from '../../snapshot/publish/publish-parts.ts';
import { beginRun } from '../../snapshot/run/begin-run.ts';
import { requestSchemasWith, type SnapshotRequest } from '../../snapshot/sources/request.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { explain } from '../errors/explain.ts';
import { endWith } from '../snapshots/show-publication.ts';
import { foundRefused, takeHere } from '../snapshots/take-here.ts';
import { type Ended, type Found, printFound, type Terminal } from '../terminal/terminal.ts';

/** Takes every published place once more, one after the other. A place that fails does not keep the next from being taken. */
export default (async (_, { json, tables }, terminal) => {
  const session = openSession({ ...terminal, reserve: 'single' });
  const store = await session.store();
  const outcomes: unknown[] = [];
  const print = (found: Found): Ended => {
    outcomes.push(found.json);
    return json ? (found.ended ?? 'done') : printFound(found, undefined, terminal);
  };
  let worst: Ended = 'done';
  for (const planned of await planOf(store, terminal.signal)) {
    const ended = await take(planned, { session, store, tables, print }, terminal).catch((error: unknown) => {
      if (terminal.signal.aborted) throw error;
      const { ended, error: facts } = explain(error, terminal);
      outcomes.push({ source: planned.place, error: facts });
      return ended;
    });
    if (BY_WEIGHT.indexOf(ended) > BY_WEIGHT.indexOf(worst)) worst = ended;
  }
  return { json: outcomes, words: [], ended: worst };
}) satisfies Run<'snapshot all'>;

/** The worst comes last. */
const BY_WEIGHT: readonly Ended[] = ['done', 'incomplete', 'failed', 'usage', 'stopped'];

/** A place to take, and what is requested for it. */
type Planned = { readonly place: Place; readonly request: () => Promise<SnapshotRequest> };

/** The places that have a published run; in a store without one, the sources that need nothing to be named. */
async function planOf(store: Store, signal: AbortSignal): Promise<readonly Planned[]> {
  const planned: Planned[] = [];
  for (const place of await placesIn(store)) {
    const { etag, manifest, broken = '' } = await readLastPublication(store, place);
    const request = async () => {
      if (manifest === undefined) throw new StoredObjectError('invalid', broken);
      return requestAgain(place, manifest, { store, signal });
    };
    if (etag !== undefined) planned.push({ place, request });
  }
  if (planned.length > 0) return planned;
  const schemas = requestSchemasWith({});
  return sources.flatMap((source) => {
    const { success, data } = schemas[source].safeParse({ source });
    return success ? [{ place: source, request: async () => data }] : [];
  });
}

type Taking = {
  readonly session: Session;
  readonly store: Store;
  readonly tables: boolean | undefined;
  readonly print: (found: Found) => Ended;
};

async function take({ place, request: find }: Planned, taking: Taking, terminal: Terminal): Promise<Ended> {
  const { session, store, tables, print } = taking;
  const { PLATFORM_BASE_URL, SYNC_COMPRESSION: compression } = session.settings;
  const request = await find();
  const begun = await beginRun(request, {
    store,
    compression,
    platform: new URL(PLATFORM_BASE_URL).host,
    now: Date.now,
    random: Math.random,
    signal: terminal.signal,
  }).catch((error: unknown) => foundRefused(error, terminal));
  if ('words' in begun) return print(begun);
  const publication = await takeHere(begun, { session, store, force: false, isResumed: false }, terminal);
  const ended = await endWith(publication, store, { tables, countsMissing: true }, terminal, print);
  // Not even one of its ids could be read.
  const isGone = publication.kind === 'refused' && publication.manifest.refused.includes('incomplete');
  if (!isGone || !isNamedAfter(place, request)) return ended;
  terminal.err(
    `${place}: all that it selects is gone; a place without a name of its own (--as) fails no \`snapshot all\``,
  );
  return 'done';
}
