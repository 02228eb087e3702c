import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { faultOf, readersOfRows, readersOfTexts } from './text-readers.ts';
import { ALL_CASES, WHOLE_CASES } from './text-table.ts';

const folder = folderOfEach();

const start = () =>
  startPlatform({ calculations: 0, datasets: 4, cards: 4, fileSets: 0, dataFiles: 4, latencyMs: 0 });

/** Every fifth case, for commands that take a snapshot for each, which is slow. */
const SOME_CASES = ALL_CASES.filter((_, at) => at % 5 === 0);

test.each([
  ...Object.entries(readersOfRows).map(
    ([name, reader]) => [name, reader, name.startsWith('snapshot') ? SOME_CASES : ALL_CASES] as const,
  ),
  ...Object.entries(readersOfTexts).map(([name, reader]) => [name, reader, WHOLE_CASES] as const),
])(
  'for all files, %s reads each cell correctly, or refuses the file with its name, the line and a remedy',
  async (_, reader, cases) => {
    await using sandbox = await start();
    const faults = [];
    for (const one of cases) faults.push(await faultOf(reader, one, { folder: folder.path, sandbox }));

    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  },
  600_000,
);
