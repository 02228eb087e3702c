import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Holder, JobRow, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import { createLedger } from '../../../lib/jobs/ledger/ledger.ts';
import { neverSent, type SentBy } from '../../../lib/jobs/ledger/transitions.ts';
import { type ClientOptions, recorded } from './client.ts';

const LEASE_MS = 6_000;

const DAY_MS = 86_400_000;

/** A response of the ledger. Some contain the row, some a claim. */
type Answer = { readonly kind: string; readonly row?: JobRow | undefined; readonly claim?: JobRow };

/** A worker, and sometimes a person, who change one job through the ledger. */
export function jobClient(options: ClientOptions): () => Promise<void> {
  const { history: id, dice, fault, table, folder, nowMs, newId, record } = options;
  const request = { id, type: 'run-function', contentHash: 'hash', sender: 'history' };
  const mayRepeat = Number(id.split('-')[1]) % 3 === 0;
  let now = nowMs();
  const ledger = createLedger({ table, now: () => now + (fault === 'clock-ahead' ? DAY_MS : 0) });
  let holder: Holder | undefined;
  let hasEnded = false;

  const ask = async <Given extends Answer>(entry: object, act: (call: string) => Promise<Given>) => {
    now = nowMs();
    const outOf = ({ kind, row, claim }: Answer) => {
      const { state = '', fence = 0 } = row ?? claim ?? {};
      return { kind, state, fence };
    };
    return (await recorded(options, { now, ...entry }, act, outOf))?.answer;
  };

  const claim = async () => {
    const given = { sends: dice.percent(50), isAlone: dice.percent(30), by: newId() };
    const { sends, isAlone: alone, by } = given;
    const entry = { op: 'claim', lease: LEASE_MS, mayRepeat, sends, alone, by };
    const answer = await ask(entry, (call) => {
      const findOutcome = async (sent: SentBy) => {
        const outcome = await staged(sent);
        const { status, error } = outcome ?? {};
        const said = { outcome: outcome && JSON.stringify(outcome), status, error: error?.kind };
        record({ id: call, late: { fence: sent.fence, ...said } });
        return outcome;
      };
      return ledger.claim(request, { leaseMs: LEASE_MS, mayRepeat, ...given, findOutcome });
    });
    if (answer?.kind === 'claimed') holder = answer.claim;
    hasEnded = answer?.kind === 'ended';
  };

  const end = async (held: Holder) => {
    const outcome = dice.pick<Outcome>([
      { status: 'done', response: newId() },
      { status: 'failed', error: { kind: 'execution', message: newId() } },
      { status: 'failed', error: { kind: 'status', message: newId() } },
      neverSent,
    ]);
    if (dice.percent(50)) await stage(held, outcome);
    const said = {
      outcome: JSON.stringify(outcome),
      status: outcome.status,
      error: outcome.error?.kind ?? '',
    };
    await ask({ op: 'end', ...holderOf(held), ...said }, async () => {
      const current = fault === 'end-without-lease' ? await ledger.read(id) : undefined;
      return ledger.end(current?.leaseUntilMs === undefined ? held : (current as Holder), outcome);
    });
  };

  /** True if another worker has claimed the job since, or if the table could not be read. */
  const isLost = async (held: Holder) => (await ledger.read(id).catch(() => undefined))?.fence !== held.fence;

  const ofHolder = async (held: Holder): Promise<unknown> => {
    if (fault === 'end-without-lease' && (await isLost(held))) return end(held);
    const entry = holderOf(held);
    const kind = dice.below(100);
    if (kind < 25) return ask({ op: 'sent', ...entry }, () => ledger.sent(held));
    if (kind < 35) return ask({ op: 'renew', ...entry, lease: LEASE_MS }, () => ledger.renew(held, LEASE_MS));
    if (kind < 42) return ask({ op: 'progress', ...entry }, () => ledger.progress(held));
    if (kind < 60) return end(held);
    const requestSent = dice.percent(50);
    return ask({ op: 'release', ...entry, requestSent }, () => ledger.release(held, { requestSent }));
  };

  const person = (): Promise<unknown> => {
    const kind = hasEnded ? 25 + dice.below(60) : dice.below(100);
    hasEnded = false;
    if (kind < 25) return ask({ op: 'cancel' }, () => ledger.cancel(id));
    if (kind < 65) {
      const given = { isNamed: dice.percent(50), executed: dice.percent(30) };
      return ask({ op: 'reopen', ...given }, () => ledger.reopen(id, given));
    }
    if (kind < 85) {
      const status = dice.pick(['done', 'failed'] as const);
      return ask({ op: 'resolve', status }, () => ledger.resolve(id, { status, note: 'seen' }));
    }
    return ask({ op: 'read' }, async () => ({ kind: 'read', row: await ledger.read(id) }));
  };

  const path = (sent: SentBy | Holder) => join(folder, `${id}-${sent.fence}.json`);
  const stage = async (held: Holder, outcome: Outcome) => {
    const written = `${path(held)}.${newId()}`;
    await writeFile(written, JSON.stringify(outcome));
    await rename(written, path(held));
  };
  const staged = async (sent: SentBy): Promise<Outcome | undefined> =>
    readFile(path(sent), 'utf8').then(
      (text): Outcome => JSON.parse(text),
      () => undefined,
    );

  return async () => {
    if (dice.percent(hasEnded ? 70 : 8)) await person();
    else if (holder === undefined || dice.percent(25)) await claim();
    else await ofHolder(holder);
    // Sometimes continue with a claim that has ended or was lost.
    if (dice.percent(15)) holder = undefined;
  };
}

const holderOf = ({ fence, by = '' }: Holder) => ({ fence, by });
