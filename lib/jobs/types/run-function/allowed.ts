import { type AllowLists, notAllowed } from '../../allow-lists.ts';
import type { RunFunctionJob } from './message.ts';

/** Why SYNC_ALLOW does not allow the function of a job, or undefined if it does. */
export function functionFault(
  {
    packageId: id,
    packageVersion,
    functionName,
  }: Pick<RunFunctionJob, 'packageId' | 'packageVersion' | 'functionName'>,
  { packages, functions }: AllowLists,
): string | undefined {
  const packageId = id.toLowerCase();
  if (packages !== undefined && !packages.some((allowed) => allowed.toLowerCase() === packageId))
    return notAllowed('packageId', packages, id);
  const name = `${packageId}/${packageVersion}/${functionName}`;
  if (functions !== undefined && !functions.some((entry) => matches(entry, name, functionName)))
    return notAllowed('functionName', functions, name);
  return undefined;
}

const LENGTH_OF_UUID = 36;

/** Whether an entry names this function. Case matters except in the package's UUID. */
const matches = (entry: string, full: string, functionName: string) =>
  entry.includes('/')
    ? entry.slice(0, LENGTH_OF_UUID).toLowerCase() + entry.slice(LENGTH_OF_UUID) === full
    : entry === functionName;
