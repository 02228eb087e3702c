import { once } from '../../base/index.ts';
import { checkJobFile, openJobState, submitJobs } from '../../jobs/index.ts';
import { readAllow } from '../../jobs/types/index.ts';
import { storeAsOf } from '../../report/index.ts';
import { type McpContext, type Submission, serve } from '../../report/mcp/index.ts';
import { needed, readSyncSettings } from '../../settings.ts';
import { openTables } from '../../tables/index.ts';
import type { Run } from '../command.ts';
import { remedyFor } from '../errors/explain.ts';
import { UsageError } from '../errors/usage-error.ts';
import { lostFault, lostFormulas } from '../formula/change-set.ts';
import { openStoreOf } from '../options/from-settings.ts';
import { hideSecrets } from '../terminal/hide-secrets.ts';
import { shown, type Terminal } from '../terminal/terminal.ts';
import { currentRate } from '../texts/current-rate.ts';

/** The limits for a query. They are strict, since the client chooses the query. */
const QUERY_LIMITS = { memoryMb: 500, diskBytes: 5_000_000_000, onlyTables: true };

/** Serves until the client closes the connection, or the command is stopped. Needs only the store. */
export default (async (_, { allowSubmit }, terminal, { parent }) => {
  const { pipes, signal, err } = terminal;
  if (pipes === undefined)
    throw new UsageError(
      'mcp is not for a terminal: an AI assistant starts it, and connects to its standard input and output',
    );
  await using opened = new AsyncDisposableStack();
  await serve({
    context: {
      ...contextOf(terminal, opened),
      submission: allowSubmit ? createSubmission(terminal) : undefined,
    },
    version: parent?.version() ?? '',
    pipes,
    signal,
    err: (line) => err(`platform-sync mcp: ${shown(line)}`),
  });
  return 'done' as const;
}) satisfies Run<'mcp'>;

function contextOf(terminal: Terminal, opened: AsyncDisposableStack): McpContext {
  const { environment } = terminal;
  const store = once(() => openStoreOf(terminal));
  const tablesAt = new Map<number | undefined, McpContext['tables']>();
  return {
    store,
    async tables(atMs) {
      const known = tablesAt.get(atMs);
      if (known !== undefined) return known();
      const tables = once(async () => {
        const at = atMs === undefined ? await store() : await storeAsOf(await store(), atMs);
        return opened.use(await openTables(at, { ...QUERY_LIMITS, atMs }));
      });
      tablesAt.set(atMs, tables);
      return tables();
    },
    ledger: once(async () => {
      if (readSyncSettings(environment).SYNC_TABLE === undefined) return undefined;
      return (await openJobState(environment, await store())).ledger;
    }),
    adviceOn: (error) => remedyFor(error, environment),
    hide: hideSecrets(environment),
    now: Date.now,
  };
}

const calculation = (id: string) => `calculation ${id}`;

/** How a user can set the formulas anyway. An assistant cannot, since a user must decide it. */
const REMEDY = 'A user can set them anyway: platform-sync submit FILE --no-undo';

/** Creates the submission through which the server puts jobs on the queue, as `submit` does. */
export function createSubmission(terminal: Terminal): Submission {
  const { environment, err } = terminal;
  const settings = () => readSyncSettings(environment);
  const queueUrl = () => needed(settings(), 'SYNC_QUEUE_URL');
  return {
    async check(text) {
      // If no queue is set, this throws before a confirmation token is issued.
      queueUrl();
      const allow = readAllow(settings().SYNC_ALLOW);
      // The jobs must have ids, so that they can be sent again if a response is lost.
      const checked = await checkJobFile({ file: 'lines', text, ids: 'required', allow });
      if ('faults' in checked) return { faults: checked.faults };
      const { replaced } = checked;
      const lost = replaced.size === 0 ? [] : await lostFormulas(await openStoreOf(terminal), replaced);
      if (lost.length > 0)
        return { faults: [lostFault(lost.map(calculation), { undone: 'sent', remedy: REMEDY })] };
      return await Array.fromAsync(checked.rows(), ({ id, body }) => ({ id, text: body }));
    },
    async send(jobs, signal) {
      return submitJobs(
        jobs.map(({ id, text }) => ({ id, body: text })),
        {
          environment,
          signal,
          onUnavailable: ({ message }) =>
            err(`platform-sync mcp: the queue is unavailable (${message}): trying again`),
        },
      );
    },
    // Without the rate, the tool still says what the jobs cost.
    rate: () => currentRate(environment).catch(() => undefined),
  };
}
