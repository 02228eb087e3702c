import { sendToEventBridge } from '../../jobs/event-bridge.ts';
import { isSettled } from '../../jobs/ledger/job-row.ts';
import { askedJob, findFailedMessage, publishEnd } from '../../jobs/redrive.ts';
import { spelled } from '../../model/rules/index.ts';
import { readSyncSettings } from '../../settings.ts';
import type { Run } from '../command.ts';
import { openJobs } from '../jobs/open-jobs.ts';
import { shown } from '../terminal/terminal.ts';

/** Settles an unknown job by a person's word. Does not need the platform. */
export default (async ([id, status], { note }, terminal) => {
  const { environment, err } = terminal;
  const { ledger, batches } = await openJobs(terminal);
  // Read first: a redrive deletes the message of a job that is done.
  const body = await findFailedMessage(batches.store, id);
  const { kind, row } = await ledger.resolve(id, { status, note });
  // Whatever is said now: an earlier command may have been killed after it wrote the ledger.
  if (row !== undefined && isSettled(row)) {
    const { SYNC_EVENT_BUS: bus, SYNC_STORE: store } = readSyncSettings(environment);
    const reportFinished = bus === undefined ? undefined : sendToEventBridge({ bus, store, environment });
    await publishEnd(row, askedJob(id, body), { store: batches.store, batches, reportFinished });
    if (body === undefined && row.state === 'DONE')
      err(
        shown(
          `${id}: its message is not stored: of an update of a formula, formula log does not have what it set until the command that ran it is repeated`,
        ),
      );
  }
  const settled = spelled(row?.state) ?? null;
  return {
    json: { id, became: kind, status: settled },
    words: `${id}: ${kind === 'resolved' ? `settled as ${settled}` : refusal(settled ?? 'not known')}`,
    ended: kind === 'resolved' ? 'done' : 'incomplete',
  };
}) satisfies Run<'jobs resolve'>;

const refusal = (status: string) => `${status}; only a job whose outcome is unknown can be settled`;
