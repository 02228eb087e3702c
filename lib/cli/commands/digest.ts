import { errorText, sleep } from '../../base/index.ts';
import { printJson } from '../../base/json/index.ts';
import type { StatusFailure } from '../../platform/failure.ts';
import { parseRetryAfter } from '../../platform/http/error-body.ts';
import { createExchange } from '../../platform/http/exchange.ts';
import { decideRetry, defaultRetryLimits } from '../../platform/retry.ts';
import { readJobs } from '../../report/collect/jobs.ts';
import {
  collectDigest,
  type Digest,
  type PrintedDigest,
  printDigest,
  safeLine,
} from '../../report/digest/digest.ts';
import { type WebhookService, webhookBody } from '../../report/digest/webhook.ts';
import type { JobFacts } from '../../report/facts.ts';
import type { PlatformLinks } from '../../report/link-to.ts';
import { findReport } from '../../report/stored-report.ts';
import { readSyncSettings } from '../../settings.ts';
import { publishedRuns } from '../../snapshot/changes/published-runs.ts';
import { placesIn } from '../../snapshot/history/places.ts';
import type { Place } from '../../snapshot/keys.ts';
import { readAgain } from '../../snapshot/read-again.ts';
import { runOfId } from '../../snapshot/run-id.ts';
import { type Store, StoredObjectError, unlessDamaged } from '../../store/index.ts';
import type { Run } from '../commands.ts';
import { UsageError } from '../errors/usage-error.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { counted, firstOf, shown, type Terminal } from '../terminal/terminal.ts';

const DAY_MS = 86_400_000;

type Failed = JobFacts['attention'];

type Asked = {
  readonly store: Store;
  readonly sinceMs: number;
  readonly links: PlatformLinks | undefined;
  readonly addFault: (fault: string) => void;
  readonly signal: AbortSignal;
};

/** Says what has changed, broken and failed, at the terminal or to a webhook. Needs only the store. */
export default (async (_, { since, to }, terminal) => {
  const url = to === undefined ? undefined : webhookUrl(terminal);
  const sinceMs = since ?? Date.now() - DAY_MS;
  const store = await openStoreOf(terminal);
  const faults: string[] = [];
  const addFault = (fault: string) => void faults.push(fault);
  const { PLATFORM_LINKS: links } = readSyncSettings(terminal.environment);
  const asked = { store, sinceMs, links, addFault, signal: terminal.signal };
  const [digests, failed] = [await collect(asked), await failedJobs(asked)];
  for (const fault of faults) terminal.err(shown(fault));
  const hasReport = (await findReport(store).catch(unlessDamaged(addFault))) !== undefined;
  const printed = digests.map((each) => printDigest(each, { location: store.location, hasReport }));
  const digest = together(printed, failed, sinceMs);
  if (to !== undefined && url !== undefined) await post(to, url, digest, terminal);
  return {
    json: { ...digest, places: digests.map(placeJson), jobs: failed },
    words: `${digest.subject}${digest.text === '' ? '' : `\n\n${digest.text}`}`,
    ended: faults.length > 0 ? 'incomplete' : 'done',
  };
}) satisfies Run<'digest'>;

function webhookUrl({ environment }: Terminal): URL {
  const { SYNC_DIGEST_URL: url } = readSyncSettings(environment);
  if (url !== undefined) return new URL(url);
  throw new UsageError('--to: expected SYNC_DIGEST_URL, the address of the webhook, got nothing');
}

/** What is said of each place of which a run was published since, unless that is nothing. */
async function collect(asked: Asked): Promise<readonly Digest[]> {
  const { store, addFault } = asked;
  const found: Digest[] = [];
  for (const place of await placesIn(store)) {
    try {
      const digest = await readAgain(() => digestOf(place, asked));
      if (digest !== undefined && isNews(digest)) found.push(digest);
    } catch (error) {
      if (!(error instanceof StoredObjectError)) throw error;
      addFault(`${place}: ${error.message}`);
    }
  }
  return found;
}

async function digestOf(place: Place, { store, sinceMs, links, signal }: Asked): Promise<Digest | undefined> {
  const [run] = await publishedRuns(store, place, { signal });
  if (run === undefined || Date.parse(runOfId(run.run).startedAt) < sinceMs) return undefined;
  return collectDigest({ store, place, run: run.run, sinceMs, links, signal });
}

function isNews({ compared, broken, newlyMissing, manifest }: Digest): boolean {
  const newly = Object.values(broken ?? {}).reduce((sum, each) => sum + (each.newly?.total ?? 0), 0);
  const changed = compared === null ? 1 : compared.added + compared.removed + compared.changed;
  return changed + newly + (newlyMissing?.total ?? 0) > 0 || manifest.forced || broken === null;
}

/** The jobs that ended since, and are not done. */
async function failedJobs({ sinceMs, ...asked }: Asked): Promise<Failed> {
  const { jobs } = await readJobs({ ...asked, nowMs: Date.now() });
  return jobs.attention.filter(({ finishedAt }) => finishedAt >= sinceMs);
}

/** The most jobs that are listed. */
const MAX_JOBS = 20;

/** One message of all. */
function together(digests: readonly PrintedDigest[], failed: Failed, sinceMs: number) {
  const since = new Date(sinceMs).toISOString();
  const [only, ...others] = digests;
  const jobs = failed.length === 0 ? [] : [`${counted(failed.length, 'job')} not done`];
  const changed =
    only === undefined || others.length === 0 ? only?.subject : `${digests.length} places have news`;
  const what = [...(changed === undefined ? [] : [changed]), ...jobs].join('; ');
  return {
    since,
    subject: what === '' ? `Nothing to say since ${since.slice(0, 16).replace('T', ' ')} UTC` : what,
    text: [...(only === undefined ? [] : [only, ...others].map(({ text }) => text)), ...jobText(failed)].join(
      `\n\n${'-'.repeat(60)}\n\n`,
    ),
  };
}

function jobText(failed: Failed): readonly string[] {
  if (failed.length === 0) return [];
  const lines = failed.map(({ status, type, id, reason, advice }) =>
    [`${status}: ${type} ${id}: ${reason}`, `    ${advice}`].map(safeLine).join('\n'),
  );
  return [[`Jobs that are not done: ${failed.length}`, ...firstOf(lines, MAX_JOBS)].join('\n')];
}

function placeJson({ manifest, compared, broken, newlyMissing }: Digest) {
  const flags = Object.entries(broken ?? {}).map(([flag, { calculations, cards, newly }]) => [
    flag,
    { calculations, cards, new: newly?.total ?? null },
  ]);
  return {
    ...{ place: manifest.source, run: manifest.run, records: manifest.records, compared },
    broken: broken ? (Object.fromEntries(flags) as Readonly<Record<string, unknown>>) : null,
    newlyMissing: newlyMissing?.total ?? null,
  };
}

const POST_MS = 15_000;

/**
 * Posts it, and once more only after a 429, by the client's own rule: that one was not taken, and a repeat of any other
 * would be a second message. The address is a secret, so no error names it.
 */
async function post(
  to: WebhookService,
  url: URL,
  digest: { readonly subject: string; readonly text: string },
  { environment, signal, err }: Terminal,
): Promise<void> {
  const body = printJson(webhookBody[to](digest));
  const exchange = createExchange(environment);
  const startMs = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const failure = await postOnce(exchange, { to, url, body, signal });
    if (failure === undefined) return err(`posted to ${to}`);
    const elapsedMs = performance.now() - startMs;
    const limits = defaultRetryLimits;
    const decision = decideRetry({
      failure,
      mayRepeat: false,
      attempt,
      elapsedMs,
      random: Math.random(),
      limits,
    });
    if (decision.kind === 'stop') throw refusedBy(to, url, failure.status);
    err(`the webhook of ${to} asks to wait: posting again in ${Math.ceil(decision.delayMs / 1_000)} s`);
    await sleep(decision.delayMs, signal);
  }
}

const refusedBy = (to: WebhookService, url: URL, status: number) =>
  new Error(
    `the webhook of ${to} at ${url.host} refused the digest: ${status}${status === 429 ? '' : '; is SYNC_DIGEST_URL still valid?'}`,
  );

type Post = {
  readonly to: WebhookService;
  readonly url: URL;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** Posts once; returns how it was refused, or undefined. */
async function postOnce(
  exchange: ReturnType<typeof createExchange>,
  { to, url, body, signal }: Post,
): Promise<StatusFailure | undefined> {
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(POST_MS)]);
  const request = { url, method: 'POST', headers, body, timeoutMs: POST_MS, fresh: true };
  const responded = await exchange(request, limit, () => undefined).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new Error(`the webhook of ${to} at ${url.host} could not be reached: ${errorText(error)}`);
  });
  responded.body.destroy();
  const { status } = responded;
  if (status >= 200 && status <= 299) return undefined;
  const retryAfterMs = parseRetryAfter(responded.headers, Date.now());
  return { kind: 'status', status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}
