import { readAhead } from '../../base/index.ts';
import { adviceSentence, batchOfJob, storedResults } from '../../jobs/index.ts';
import { findFormula, formulaKeys } from '../../model/formulas/index.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import { type FormulaUpdate, type JobFacts, MAX_LISTED } from '../facts.ts';
import { createLargest } from './records.ts';
import { type Members, membersOf, NOT_STATED, type Reading, shownText, textIn } from './values.ts';

type Attention = JobFacts['attention'][number];

const DAY_MS = 86_400_000;

/** How many days of results to read, by the day of a job's first claim, and how many results of each type at most. */
const RESULT_DAYS = 30;
const MAX_RESULTS = 5_000;

/** Reports unexpected objects, if there are any, as one fault, with the key of the first. */
function addOdd(addFault: Reading['addFault'], odd: readonly string[], expected: string): void {
  if (odd.length > 0)
    addFault(`${odd[0]}: expected ${expected}, got something else; ${odd.length} such objects are left out`);
}

/**
 * Reads the results of jobs of the last thirty days, for each type the newest days first. Also finds when the last job
 * of each batch ended (`batchEnds`), if its result was read.
 */
export async function readJobs(
  options: Reading & {
    readonly nowMs: number;
    /** Maximum results of each type to read. Default: 5,000. */
    readonly most?: number;
  },
) {
  const { store, nowMs, addFault, signal, most = MAX_RESULTS } = options;
  const tally = createTally();
  const odd: string[] = [];
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  let sinceMs = today - (RESULT_DAYS - 1) * DAY_MS;
  let isCut = false;
  for await (const folder of store.folders('results/', { signal })) {
    let read = 0;
    // Starts with tomorrow, since another machine's clock may be ahead.
    for (let dayMs = today + DAY_MS; dayMs >= sinceMs && read <= most; dayMs -= DAY_MS) {
      const wanted = { type: folder.split('/')[1], day: new Date(dayMs).toISOString().slice(0, 10), signal };
      for await (const { key, value = {} } of storedResults(withoutResponses(store), wanted)) {
        read += 1;
        if (read > most) {
          sinceMs = dayMs;
          isCut = true;
          break;
        }
        if (!tally.add(value)) odd.push(key);
      }
    }
  }
  addOdd(addFault, odd, 'the result of a job');
  const jobs: JobFacts = { sinceMs, isCut, types: tally.types(), attention: tally.attention() };
  return { jobs, batchEnds: tally.batchEnds };
}

/** Counts results by type and status, and collects the jobs that need attention. */
function createTally() {
  const types = new Map<string, Record<Attention['status'] | 'done', number>>();
  const attention = createLargest<Attention>(MAX_LISTED);
  const batchEnds = new Map<string, number>();
  return {
    batchEnds,
    /** Adds a result; returns false if it is not a result. */
    add(result: Members): boolean {
      const status = textIn(result['status'])?.toLowerCase();
      if (status !== 'done' && status !== 'failed' && status !== 'unknown') return false;
      const type = shownText(textIn(result['type']) ?? NOT_STATED);
      const counts = types.get(type) ?? { done: 0, failed: 0, unknown: 0 };
      counts[status] += 1;
      types.set(type, counts);
      const finishedAt = Date.parse(textIn(result['finishedAt']) ?? '') || 0;
      const name = textIn(result['id']) ?? '';
      const batch = batchOfJob(name);
      if (batch !== undefined) batchEnds.set(batch, Math.max(finishedAt, batchEnds.get(batch) ?? 0));
      if (status === 'done') return true;
      const id = shownText(name);
      const attempts = Number(result['attempts'] ?? 0);
      const advice = adviceSentence(id, status, result['error']);
      const reason = reasonOf(result);
      attention.add(rankOf({ status, finishedAt }), {
        id,
        type,
        status,
        finishedAt,
        reason,
        attempts,
        advice,
      });
      return true;
    },
    types: () =>
      [...types].sort(([a], [b]) => (a < b ? -1 : 1)).map(([type, counts]) => ({ type, ...counts })),
    attention: attention.values,
  };
}

function reasonOf({ error }: Members): string {
  const { kind, message } = membersOf(error);
  return shownText([textIn(kind), textIn(message)].filter((each) => each !== undefined).join(': '));
}

/** The rank by which jobs are sorted, highest first: unknown outcomes before failed ones, each newest first. */
const rankOf = ({ status, finishedAt }: Pick<Attention, 'status' | 'finishedAt'>): number =>
  finishedAt + (status === 'unknown' ? 1e15 : 0);

/**
 * The bytes with which the response begins in a result. No JSON string contains them, since quotes in it are escaped.
 */
const RESPONSE = Buffer.from(',"response":');

/** Wraps a store so that results are read without their responses: each is the last member, and may be large. */
const withoutResponses = ({ list, get }: Store): Pick<Store, 'list' | 'get'> => ({
  list,
  async get(...asked) {
    const found = await get(...asked);
    const end = found?.body.indexOf(RESPONSE) ?? -1;
    return end < 0 ? found : found && { ...found, body: Buffer.from(`${found.body.subarray(0, end)}}`) };
  },
});

const MAX_UPDATES = 1_000;
const PARALLEL_READS = 16;

/** Maximum characters of one formula, and of all formulas together, newest first. */
const MAX_FORMULA_LENGTH = 20_000;
const MAX_CHARACTERS = 1_000_000;

/** An update of a calculation, and the key of the previous one. */
type Update = {
  readonly key: string;
  readonly earlier: string | undefined;
  readonly id: string;
  readonly at: number;
};

/** Reads the formulas that platform-sync set, newest first. */
export async function readFormulas(
  options: Reading & {
    /** How many updates to read at most. Default: 1,000. */
    readonly most?: number;
  },
): Promise<readonly FormulaUpdate[]> {
  const { store, addFault, signal, most = MAX_UPDATES } = options;
  const found: FormulaUpdate[] = [];
  const odd: string[] = [];
  let characters = 0;
  const updates: Update[] = [];
  for await (const { key, id, at } of formulaKeys(store, signal)) {
    const last = updates.at(-1);
    updates.push({ key, id, at, earlier: last?.id === id ? last.key : undefined });
  }
  const items = updates.toSorted((a, b) => b.at - a.at).slice(0, most);
  const read = async (update: Update) => ({
    ...update,
    calculation: await calculationOf(store, update.key),
    before: textIn((await calculationOf(store, update.earlier))?.['expression']),
  });
  for await (const each of readAhead({ items, read, concurrency: PARALLEL_READS, signal })) {
    const { key, id, at, calculation } = each;
    const expression = textIn(calculation?.['expression']);
    // If the calculation is missing, the object has been deleted in the meantime.
    if (calculation !== undefined && expression === undefined) odd.push(key);
    if (expression === undefined) continue;
    const before = each.before === undefined ? null : shownText(each.before, MAX_FORMULA_LENGTH);
    const after = shownText(expression, MAX_FORMULA_LENGTH);
    characters += after.length + (before?.length ?? 0);
    if (characters > MAX_CHARACTERS) break;
    const name = shownText(textIn(calculation?.['name']) ?? '');
    found.push({ calculationId: shownText(id), name, at, before, after });
  }
  addOdd(addFault, odd, 'a calculation with its formula');
  return found;
}

/** Reads a stored calculation; undefined if it was deleted, without members if the object is damaged. */
async function calculationOf(store: Store, key: string | undefined): Promise<Members | undefined> {
  try {
    return key === undefined ? undefined : (await findFormula(store, key))?.calculation;
  } catch (error) {
    return unlessDamaged()(error) ?? {};
  }
}
