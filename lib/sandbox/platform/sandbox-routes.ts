import { Hono } from 'hono';
import { printJson } from '../../base/index.ts';
import type { Churn } from './churn.ts';
import type { PlatformCounter } from './counts.ts';
import { platformIds } from './platform-ids.ts';
import type { PlatformState } from './state.ts';

export type SandboxParts = {
  readonly state: PlatformState;
  readonly counter: PlatformCounter;
  readonly churn: Churn;
};

const MOST_STEPS = 100_000;

/**
 * What other processes can request from the sandbox, outside the contract and without a token:
 * - `GET /_sandbox/counts`: `PlatformCounts`
 * - `GET /_sandbox/ids`: `PlatformIds`, the ids of what can be requested
 * - `GET /_sandbox/truth/calculations`: every calculation's search row as it would be served, NDJSON, by id
 * - `GET /_sandbox/truth/files/FILESET-ID`: every row of a FileSet as it would be served, NDJSON
 * - `GET /_sandbox/lived-through?from=MS&to=MS[&fileset=ID]`: the ids of the calculations (or the files of a FileSet)
 *   that existed the whole time between two moments in epoch milliseconds, a JSON list of strings
 * - `POST /_sandbox/churn` `{steps}`: changes records; returns what was done
 */
export function sandboxRoutes({ state, counter, churn }: SandboxParts): Hono {
  const app = new Hono().basePath('/_sandbox');
  app.get('/counts', (context) =>
    context.body(printJson(counter.read()), 200, { 'content-type': 'application/json; charset=utf-8' }),
  );
  app.get('/ids', (context) => context.json(platformIds(state)));
  app.get('/truth/calculations', () => ndjson(calculationRows(state)));
  app.get('/truth/files/:fileSetId', (context) => ndjson(fileRows(state, context.req.param('fileSetId'))));
  app.get('/lived-through', (context) => {
    const { from, to, fileset } = context.req.query();
    const records =
      fileset === undefined ? state.calculations : state.fileSets.find(({ id }) => id === fileset);
    return context.json(records?.livedThrough(Number(from), Number(to)) ?? []);
  });
  app.post('/churn', async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined);
    const steps = typeof body === 'object' && body !== null ? Number(Reflect.get(body, 'steps')) : Number.NaN;
    if (!Number.isInteger(steps) || steps < 0 || steps > MOST_STEPS) {
      return context.json({ message: `steps: expected a whole number from 0 to ${MOST_STEPS}` }, 400);
    }
    return context.json(churn.run(steps));
  });
  return app;
}

export function* calculationRows({ calculations }: PlatformState): Generator<string> {
  for (const sequence of [...calculations.byId()]) yield Buffer.from(calculations.row(sequence)).toString();
}

export function* fileRows({ fileSets }: PlatformState, fileSetId: string): Generator<string> {
  for (const row of fileSets.find(({ id }) => id === fileSetId)?.rows() ?? []) yield JSON.stringify(row);
}

const LINES_A_BLOCK = 1000;

/** Sends lines in blocks: one chunk per line would be slow. */
function ndjson(lines: Iterable<string>): Response {
  const iterator = lines[Symbol.iterator]();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const block: string[] = [];
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        if (block.push(next.value) === LINES_A_BLOCK) break;
      }
      if (block.length === 0) controller.close();
      else controller.enqueue(encoder.encode(`${block.join('\n')}\n`));
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson; charset=utf-8' } });
}
