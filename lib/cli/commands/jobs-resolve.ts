import { InvalidArgumentError } from 'commander';
import type { EndedJobRow } from '../../jobs/ledger/job-row.ts';
import type { Resolution } from '../../jobs/ledger/ledger.ts';
import { readSyncSettings } from '../../settings.ts';
import { defineCommand } from '../command.ts';
import { openLedgerFor, openStoreOf } from '../options/from-settings.ts';
import { exitCodes, shown, type Terminal } from '../terminal/terminal.ts';
import { inJson } from '../terminal/words.ts';

function asStatus(text: string): Resolution['status'] {
  if (text === 'done' || text === 'failed') return text;
  throw new InvalidArgumentError(`Expected done or failed, got ${JSON.stringify(text)}.`);
}

/** `jobs resolve ID done|failed --note TEXT`: settles an unknown job by a person's word. Does not need the platform. */
export const resolve = defineCommand({
  does: 'Settle a job whose outcome is unknown, after you have looked on the platform.',
  arguments: [
    ['<id>', 'the id of the job'],
    ['<status>', 'done: it was executed; failed: it was not, and `redrive ID` may reopen it', asStatus],
  ],
  required: [['--note <text>', 'how you know: it is stored in the result']],
  options: [['--json', 'print what happened to the job as one JSON value']],
  examples: ['jobs resolve nightly-1 failed --note "it is not in the list of executions"'],
  async run([given, status], { note, json }, terminal) {
    const { checkedJobIds } = await import('../jobs/open-jobs.ts');
    const [id = ''] = checkedJobIds([given]);
    const ledger = await openLedgerFor('jobs resolve', terminal);
    const { kind, row } = await ledger.resolve(id, { status, note });
    if (kind === 'resolved') await publish(row, terminal);
    const state = row?.state ?? 'not known';
    if (json) terminal.out(inJson({ id, became: kind, state }));
    else terminal.out(shown(`${id}: ${kind === 'resolved' ? `settled as ${state}` : refusal(state)}`));
    return kind === 'resolved' ? exitCodes.done : exitCodes.incomplete;
  },
});

const refusal = (state: string) => `${state}; only a job whose outcome is unknown can be settled`;

/** Writes the result again, and reports the end on the event bus if one is set. */
async function publish(row: EndedJobRow, terminal: Terminal): Promise<void> {
  const { type, id } = row;
  // An unknown job was claimed, so its type is known.
  if (type === undefined) return;
  const { writeResult } = await import('../../jobs/result.ts');
  const result = await writeResult(await openStoreOf(terminal), { ...row, type });
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = readSyncSettings(terminal.environment);
  if (bus === undefined) return;
  const { sendToEventBridge } = await import('../../jobs/event-bridge.ts');
  await sendToEventBridge({ bus, store, environment: terminal.environment })({
    id,
    type,
    status: row.outcome.status,
    result,
  });
}
