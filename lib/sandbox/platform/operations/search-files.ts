import { searchFiles } from '../../../platform/operations/search-files.ts';
import { assumptions } from '../assumptions.ts';
import type { FilePage, FileQuery, SearchFiles } from '../files/file-search.ts';
import type { FileSet } from '../files/file-set.ts';
import { anomalyFor } from '../http/faults.ts';
import { type Form, forms, membersOf } from '../http/odd-answers.ts';
import { type Random, randomFor } from '../records/random.ts';
import { type OperationContext, ok, operation, refused } from './operation.ts';

/** Contract 4.3. */
export const searchFilesOperation = operation(
  searchFiles,
  ({ path, query, body }, context) => {
    const { state } = context;
    const search = state.searchFiles(path.filesetId);
    if (search === undefined) return refused(404, `there is no FileSet ${path.filesetId}`);
    const limit = query?.limit ?? assumptions.defaultFileLimit;
    if (limit > assumptions.maxFileLimit) {
      return refused(
        400,
        `limit: expected a whole number from 1 to ${assumptions.maxFileLimit}, got ${limit}`,
      );
    }
    const page = flawedPage(search, { ...query, ...body, limit }, path.filesetId, context);
    if (page.kind === 'refused') return refused(400, page.message);
    const { rows, next, offset, total } = page;
    return ok(JSON.stringify({ files: rows, pageContext: { next, offset, limit, total } }));
  },
  {
    errors: { usual: 'PlatformError', forbidden: 'TextError' },
    oddity: ({ body }) => ({
      list: 'files',
      decides: { id: forms.same, ...sortedBy(body) },
      beside: { pageContext: membersOf({ next: forms.same, total: forms.count }) },
    }),
  },
);

/** What the rows are sorted by is what the pages are told apart by. */
function sortedBy(body: unknown): Readonly<Record<string, Form>> {
  const fields: unknown = Object(body).fieldSort;
  return Object.fromEntries(
    (Array.isArray(fields) ? fields : []).map(({ field }) => [String(field), forms.same]),
  );
}

function flawedPage(
  search: SearchFiles,
  query: FileQuery,
  fileSetId: string,
  { state, options, number }: OperationContext,
): FilePage {
  const anomaly = anomalyFor(state.seed, options, number);
  const random = randomFor(state.seed, 'anomaly of a page', number);
  const fileSet = state.fileSets.find(({ id }) => id === fileSetId.toLowerCase());
  if (anomaly === 'rename' && fileSet !== undefined) renameOne(fileSet, random);
  const young = options.lagMs === 0 ? undefined : fileSet?.addedAfter(state.now() - options.lagMs);
  const flaws = { hidden: young ?? new Set<string>(), anomaly, nonce: number };
  const page = search(query, flaws);
  if (anomaly !== 'vanish' || page.kind === 'refused' || page.rows.length === 0) return page;
  return search(query, { ...flaws, hidden: new Set([...flaws.hidden, random.pick(page.rows).id]) });
}

const FIRST_LETTERS = [...'0ADGJMPSVYadgjmpsvy'];

function renameOne(fileSet: FileSet, random: Random): void {
  const rows = fileSet.rows();
  const row = rows[random.below(rows.length)];
  if (row === undefined) return;
  const name = `${random.pick(FIRST_LETTERS)}-${random.hex(12)}`;
  fileSet.change(row.id, { name, path: `/${name}` });
}
