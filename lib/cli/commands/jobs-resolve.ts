import { sendToEventBridge } from '../../jobs/event-bridge.ts';
import type { EndedJobRow } from '../../jobs/ledger/job-row.ts';
import { writeResult } from '../../jobs/result.ts';
import { readSyncSettings } from '../../settings.ts';
import type { Store } from '../../store/index.ts';
import type { Run } from '../commands.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Settles an unknown job by a person's word. Does not need the platform. */
export default (async ([id, status], { note }, terminal) => {
  const { ledger, batches } = await openJobs(terminal);
  const { kind, row } = await ledger.resolve(id, { status, note });
  if (kind === 'resolved') await publish(row, batches.store, terminal);
  const state = row?.state ?? 'not known';
  return {
    json: { id, became: kind, state },
    words: `${id}: ${kind === 'resolved' ? `settled as ${state}` : refusal(state)}`,
    ended: kind === 'resolved' ? 'done' : 'incomplete',
  };
}) satisfies Run<'jobs resolve'>;

const refusal = (state: string) => `${state}; only a job whose outcome is unknown can be settled`;

/** Writes the result again, and reports the end on the event bus if one is set. */
async function publish(row: EndedJobRow, to: Store, { environment }: Terminal): Promise<void> {
  const { type, id } = row;
  // An unknown job was claimed, so its type is known.
  if (type === undefined) return;
  const result = await writeResult(to, { ...row, type });
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = readSyncSettings(environment);
  if (bus === undefined) return;
  const { status } = row.outcome;
  await sendToEventBridge({ bus, store, environment })({ id, type, status, result });
}
