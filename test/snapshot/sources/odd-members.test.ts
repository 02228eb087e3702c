import { expect, test } from 'vitest';
import type { Call } from '../../../lib/platform/call.ts';
import type { Scan } from '../../../lib/snapshot/scan.ts';
import { calculationScan } from '../../../lib/snapshot/sources/calculations/scan.ts';
import { cardsScan } from '../../../lib/snapshot/sources/cards/scan.ts';
import { dataFilesScan } from '../../../lib/snapshot/sources/data-files/scan.ts';
import { filesScan } from '../../../lib/snapshot/sources/files/scan.ts';
import { calculationRow, calculations, card, dataFile, file, files } from '../../platform/sample-records.ts';
import { respondingCall } from '../responding-call.ts';
import { scanned } from '../scanned.ts';

const scans: Readonly<Record<string, (call: Call) => Scan<unknown>>> = {
  calculations: (call) =>
    calculationScan({ call, selection: {}, limit: 9, sleep: async () => undefined }) as Scan<unknown>,
  cards: (call) => cardsScan({ call, datasetIds: ['d1'], drill: false }) as Scan<unknown>,
  'data files': (call) => dataFilesScan({ call, ids: ['12'] }) as Scan<unknown>,
  files: (call) => filesScan({ call, filesetIds: ['f1'], search: {} }) as Scan<unknown>,
};

test.each([
  ['calculations', calculations(calculationRow({ name: 5 })), 'name: number'],
  ['cards', [card({ title: 5, urn: false })], 'urn: boolean,title: number'],
  ['data files', dataFile({ name: 5 }), 'name: number'],
  ['files', files(null, file({ name: 5 })), 'name: number'],
])('a scan of %s reports the members that differ from the contract', async (source, answer, members) => {
  const odd = new Set<string>();
  const call = respondingCall(
    () => JSON.stringify(answer),
    (found) => odd.add(found.join()),
  );
  const scan = scans[source]?.(call) ?? expect.unreachable();

  await scanned(scan);

  expect([...odd]).toEqual([members]);
});
