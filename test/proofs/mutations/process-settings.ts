import type { GroupName } from './groups.ts';

/** What a process that runs tests reads and writes: files of a folder, and which group's tests it runs. */
export type ProcessSettings = {
  readonly group: GroupName;
  /** What `instrument` returned, as JSON. */
  readonly instrumentedFile: string;
  /** The changes that are this process's, as JSON: a list of ids. */
  readonly changesFile: string;
  readonly journalFile: string;
};

const NAME = 'MUTANTS_PROCESS';

export const environmentOf = (settings: ProcessSettings): Readonly<Record<string, string>> => ({
  [NAME]: JSON.stringify(settings),
});

/** Undefined outside such a process. */
export function processSettings(): ProcessSettings | undefined {
  const text = process.env[NAME];
  return text === undefined ? undefined : (JSON.parse(text) as ProcessSettings);
}
