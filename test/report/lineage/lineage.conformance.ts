import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { storeFormula } from '../../../lib/model/formulas/formula-log.ts';
import { lineageOf } from '../../../lib/report/lineage/lineage.ts';
import { enginesOf } from '../../base/aws/engines.ts';
import { folderOfEach } from '../../folder-of-each.ts';
import { publishStore } from '../../model/publish-store.ts';
import { craftedStore, link } from '../../model/stores.ts';
import { linesOf, runProgram } from '../../run-program.ts';

type LineageFormat = Parameters<typeof lineageOf>[0]['format'];

const folder = folderOfEach();
const READER = 'test/conformance/engines/open_lineage_reader.py';

const { pythonCatalogs } = enginesOf(process.env);
const [python, ...words] = pythonCatalogs?.command ?? [''];
if (python === '') throw new Error('expected the engine pythonCatalogs');

/** The lineage of names and columns with every character that may be quoted, and of every shape of a link. */
async function lineageIn(format: LineageFormat): Promise<readonly string[]> {
  const odd = {
    id: 77,
    name: 'a "b"\n\u0007\u202e, (c) 🎈 ',
    owner: 5,
    links: [link('DATA_SOURCE', 'd, (1)␟')],
  };
  const calculations = [...(craftedStore.calculations ?? []), odd];
  const store = await publishStore({ ...craftedStore, calculations }, 'lines');
  const formula = { calculationId: '77', finishedAtMs: 1_800_000_000_000, response: '{}' };
  await storeFormula(store, { ...formula, expression: 'SUM(`Net, (EUR)`) / COUNT(`Größe`)' });
  return Array.fromAsync((await lineageOf({ store, format }))?.lines() ?? []);
}

const faultsOf = (events: readonly string[]) => linesOf([python, ...words, READER], events);

test('OpenLineage’s own client reads every event, and would send it unchanged', async () => {
  const events = await lineageIn('openlineage');

  expect(events.some((event) => event.includes('columnLineage'))).toBe(true);
  expect(await faultsOf(events)).toEqual(events.map(() => 'null'));
});

test('an additional member, another type or another version of an event is detected', async () => {
  const event = (await lineageIn('openlineage')).find((each) => each.includes('"owners"')) ?? '';

  const wrong = [
    event.replace('"owners"', '"owner"'),
    event.replace(/"processingType":"\w+"/, '"processingType":7'),
    event.replace('1-0-1/OwnershipJobFacet', '1-0-0/OwnershipJobFacet'),
    event.replace(/"runId":"[^"]+"/, '"runId":"none"'),
  ];

  for (const fault of await faultsOf(wrong)) expect(fault).not.toBe('null');
});

const datahub = (file: string) =>
  runProgram([python, ...words, '-m', 'datahub', 'check', 'metadata-file', file], {
    environment: { DATAHUB_TELEMETRY_ENABLED: 'false' },
  });

test('DataHub’s own check finds no fault in the metadata file, and detects a planted one', async () => {
  const lines = await lineageIn('datahub');
  const file = join(folder.path, 'lineage.json');
  await writeFile(file, lines.join('\n'));
  const sound = await datahub(file);
  await writeFile(file, lines.join('\n').replace('"typeNames"', '"names"'));
  const wrong = await datahub(file);

  expect(sound).toMatchObject({
    code: 0,
    out: expect.stringContaining(`${lines.length - 1} MCEs found - all valid`),
  });
  expect(wrong.code).not.toBe(0);
});
