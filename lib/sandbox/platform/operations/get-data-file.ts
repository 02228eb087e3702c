import { getDataFile } from '../../../platform/operations/get-data-file.ts';
import { assumptions } from '../assumptions.ts';
import { ok, operation, refused } from './operation.ts';

/** Contract 4.7. Unknown names in `expand` are ignored. */
export const getDataFileOperation = operation(getDataFile, ({ path, query }, { state }) => {
  const file = state.dataFile(path.dataFileId);
  if (file === undefined) return refused(404, `there is no data file ${path.dataFileId}`);
  const expanded = (query?.expand ?? '').split(',').map((name) => name.trim().toLowerCase());
  const { dataFileId, name, responsibleUserId, datetimeCreated, revisions, existing } = file;
  return ok(
    JSON.stringify({
      dataFileId,
      name,
      responsibleUserId,
      ...(expanded.includes(assumptions.currentRevisionExpansion)
        ? { currentRevision: revisions.at(-1) }
        : {}),
      datetimeCreated,
      ...(expanded.includes(assumptions.revisionsExpansion) ? { revisions } : {}),
      existing,
    }),
  );
});
