import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sampleMessages } from '../../jobs/types/job-types.ts';
import { codePackages } from '../../sandbox/platform/functions/packages.ts';
import type { Sandbox } from '../../sandbox/platform/start-platform.ts';
import type { TourAws } from './aws.ts';
import type { Narration } from './narration.ts';
import { formulaFor, sampleRecords } from './samples.ts';

/** The most characters of a job that are shown. */
const SHOWN = 96;

/** Runs one job of every type through the queue, by the bundle that is deployed, in a process of its own. */
export async function tellJobs(
  { run, say }: Narration,
  platform: Sandbox,
  folder: string,
  aws: TourAws,
): Promise<void> {
  const messages = sampleMessages({
    ...sampleRecords(platform),
    packageId: codePackages[0]?.id ?? '',
    ...formulaFor(platform),
  });
  const file = join(folder, 'jobs.ndjson');
  const lines = messages.map((message) => JSON.stringify(message));
  await writeFile(file, lines.map((line) => `${line}\n`).join(''));
  say(`\n${file}:`);
  for (const line of lines) say(`  ${line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line}`);
  const { settings } = aws;
  await run(['submit', file], { settings });
  say('\nThe function takes them from the queue, in a process of its own.');
  await aws.runJobs(messages.map(({ id }) => id));
  await run(['jobs'], { settings });
  await run(['jobs', messages[0]?.id ?? ''], { settings });
}
