import { searchFiles } from '../../../platform/operations/search-files.ts';
import { assumptions } from '../assumptions.ts';
import { ok, operation, refused } from './operation.ts';

/** Contract 4.3. */
export const searchFilesOperation = operation(
  searchFiles,
  ({ path, query, body }, { state }) => {
    const search = state.searchFiles(path.filesetId);
    if (search === undefined) return refused(404, `there is no FileSet ${path.filesetId}`);
    const limit = query?.limit ?? assumptions.defaultFileLimit;
    if (limit > assumptions.maxFileLimit) {
      return refused(
        400,
        `limit: expected a whole number from 1 to ${assumptions.maxFileLimit}, got ${limit}`,
      );
    }
    const page = search({ ...query, ...body, limit });
    if (page.kind === 'refused') return refused(400, page.message);
    const { rows, next, offset, total } = page;
    return ok(JSON.stringify({ files: rows, pageContext: { next, offset, limit, total } }));
  },
  {
    limits: {
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: assumptions.maxFileLimit,
        default: assumptions.defaultFileLimit,
      },
      immediateChildren: { default: false },
    },
    errors: { usual: 'PlatformError', forbidden: 'TextError' },
  },
);
