import type { CommandCase } from '../command-case.ts';
import { fileCases } from './files.ts';
import { objectCases } from './objects.ts';
import { queryCases } from './queries.ts';
import { responseCases } from './responses.ts';
import { settingsCases } from './settings.ts';
import { usageCases } from './usage.ts';

/** All hostile command lines, by kind. */
export const commandCases = {
  settings: settingsCases,
  usage: usageCases,
  queries: queryCases,
  files: fileCases,
  objects: objectCases,
  responses: responseCases,
} as const satisfies Record<string, readonly CommandCase[]>;
