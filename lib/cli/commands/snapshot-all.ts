import type { Session } from '../../session.ts';
import { beginRun, isNamedBySelection, placesToTake } from '../../snapshot/index.ts';
import { readGates } from '../../snapshot/sources/index.ts';
import type { Store } from '../../store/index.ts';
import type { Run } from '../command.ts';
import { explain } from '../errors/explain.ts';
import { openSessionOf } from '../options/from-settings.ts';
import { endWith } from '../snapshots/show-publication.ts';
import { foundRefused, takeHere } from '../snapshots/take-here.ts';
import {
  type CommandResult,
  type ExitStatus,
  printCommandResult,
  type Terminal,
} from '../terminal/terminal.ts';

/** Takes a new run of every published place, one after the other. If one fails, the next is still taken. */
export default (async (_, { json, tables }, terminal) => {
  const session = openSessionOf(terminal, { reserve: 'single' });
  // Throws for an invalid setting before any run begins.
  readGates(session.settings.SYNC_GATES);
  const store = await session.store();
  const outcomes: unknown[] = [];
  const print = (found: CommandResult): ExitStatus => {
    outcomes.push(found.json);
    return json ? (found.ended ?? 'done') : printCommandResult(found, undefined, terminal);
  };
  let worst: ExitStatus = 'done';
  for (const planned of await placesToTake(store, terminal.signal)) {
    const ended = await take(planned, { session, store, tables, print }, terminal).catch((error: unknown) => {
      if (terminal.signal.aborted) throw error;
      const { ended, error: facts } = explain(error, terminal);
      outcomes.push({ source: planned.place, error: facts });
      return ended;
    });
    if (BY_SEVERITY.indexOf(ended) > BY_SEVERITY.indexOf(worst)) worst = ended;
  }
  return { json: outcomes, words: [], ended: worst };
}) satisfies Run<'snapshot all'>;

/** The ways in which a run can end, from best to worst. */
const BY_SEVERITY: readonly ExitStatus[] = ['done', 'incomplete', 'failed', 'usage', 'stopped'];

async function take(
  { place, request: find }: Awaited<ReturnType<typeof placesToTake>>[number],
  taking: {
    readonly session: Session;
    readonly store: Store;
    readonly tables: boolean | undefined;
    readonly print: (found: CommandResult) => ExitStatus;
  },
  terminal: Terminal,
): Promise<ExitStatus> {
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
  // True if none of the selected ids could be read.
  const isGone = publication.kind === 'refused' && publication.manifest.refused.includes('incomplete');
  if (!isGone || !isNamedBySelection(place, request)) return ended;
  terminal.err(
    `${place}: none of its records exists any longer. This is not a failure, since its name is made from its selection (it was not given with --as)`,
  );
  return 'done';
}
