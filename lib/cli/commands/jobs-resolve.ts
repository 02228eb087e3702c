import { sendToEventBridge } from '../../jobs/event-bridge.ts';
import type { EndedJobRow } from '../../jobs/ledger/job-row.ts';
import { writeResult } from '../../jobs/result.ts';
import { readSyncSettings } from '../../settings.ts';
import type { Run } from '../commands.ts';
import { checkedJobIds } from '../jobs/open-jobs.ts';
import { openLedgerFor, openStoreOf } from '../options/from-settings.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';

/** Settles an unknown job by a person's word. Does not need the platform. */
export const run: Run<'jobs resolve'> = async ([given, status], { note, json }, terminal) => {
  const [id = ''] = checkedJobIds([given]);
  const ledger = await openLedgerFor('jobs resolve', terminal);
  const { kind, row } = await ledger.resolve(id, { status, note });
  if (kind === 'resolved') await publish(row, terminal);
  const state = row?.state ?? 'not known';
  if (json) terminal.out(inJson({ id, became: kind, state }));
  else terminal.out(shown(`${id}: ${kind === 'resolved' ? `settled as ${state}` : refusal(state)}`));
  return kind === 'resolved' ? exitCodes.done : exitCodes.incomplete;
};

const refusal = (state: string) => `${state}; only a job whose outcome is unknown can be settled`;

/** Writes the result again, and reports the end on the event bus if one is set. */
async function publish(row: EndedJobRow, terminal: Terminal): Promise<void> {
  const { type, id } = row;
  // An unknown job was claimed, so its type is known.
  if (type === undefined) return;
  const result = await writeResult(await openStoreOf(terminal), { ...row, type });
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = readSyncSettings(terminal.environment);
  if (bus === undefined) return;
  await sendToEventBridge({ bus, store, environment: terminal.environment })({
    id,
    type,
    status: row.outcome.status,
    result,
  });
}
