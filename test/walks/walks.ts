/** One or more lines that are inserted into a file after the first occurrence of `after`. */
type Insertion = { readonly file: string; readonly after: string; readonly lines: string };

/** A change that docs/contributing.md describes. New files are in the folder of its name, as `FILE.txt`. */
export type Walk = {
  /** The heading of its section. */
  readonly heading: string;
  readonly insertions: readonly Insertion[];
};

/** The walks in the order of the page. Each builds on the previous ones. */
export const walks = {
  operation: {
    heading: 'Walk 1: add an operation of the platform',
    insertions: [
      {
        file: 'lib/platform/operations/index.ts',
        after: "import { getDataFile } from './get-data-file.ts';\n",
        lines: "import { getGadget } from './get-gadget.ts';\n",
      },
      {
        file: 'lib/platform/operations/index.ts',
        after: '  analyzeSentiment,\n  getDataFile,\n',
        lines: '  getGadget,\n',
      },
      {
        file: 'lib/platform/operations/index.ts',
        after: "export { listCards } from './list-cards.ts';\n",
        lines: "export { getGadget } from './get-gadget.ts';\n",
      },
      {
        file: 'lib/sandbox/platform/operations/operations.ts',
        after: "import { printJson } from '../../../base/json/index.ts';\n",
        lines: "import { getGadget } from '../../../platform/operations/index.ts';\n",
      },
      {
        file: 'lib/sandbox/platform/operations/operations.ts',
        after: '  getDataFile: getDataFileOperation,\n',
        lines: `  getGadget: operation(
    getGadget,
    ({ path }) => ok(JSON.stringify({ id: path.gadgetId, Title: \`Gadget \${path.gadgetId}\` })),
    { oddity: { decides: { id: forms.same } } },
  ),
`,
      },
      {
        file: 'build/reference/page.ts',
        after: "  getDataFile: { file: 'get-data-file', methods: ['dataFiles.get'], returns: 'DataFile' },\n",
        lines: "  getGadget: { file: 'get-gadget', methods: ['gadgets.get'], returns: 'DataFile' },\n",
      },
      {
        file: 'lib/platform/client.ts',
        after: "import { getDataFile } from './operations/get-data-file.ts';\n",
        lines: "import { getGadget } from './operations/get-gadget.ts';\n",
      },
      {
        file: 'lib/platform/client.ts',
        after:
          ") => call(getDataFile, { path: { dataFileId }, query: { expand: expand?.join(',') } }, options),\n  },\n",
        lines: `  gadgets: {
    /** Reads a gadget. */
    get: (gadgetId: string, options?: CallOptions) => call(getGadget, { path: { gadgetId } }, options),
  },
`,
      },
      {
        file: 'test/sandbox/platform/contract-answers.ts',
        after: '  getDataFile: dataFileSchema,\n',
        lines: '  getGadget: z.looseObject({ id: z.string() }),\n',
      },
      {
        file: 'test/proofs/fuzz/targets/response-inputs.ts',
        after: '    records.dataFile({ revisions: [records.revision()] }),\n  ),\n',
        lines: "  getGadget: operation(endpoints.getGadget, { path: { gadgetId: 'a' } }, { id: 'a' }),\n",
      },
    ],
  },
  source: {
    heading: 'Walk 2: add a source of snapshots',
    insertions: [
      {
        file: 'lib/snapshot/sources/sources.ts',
        after: "import { files } from './files/definition.ts';\n",
        lines: "import { gadgets } from './gadgets/definition.ts';\n",
      },
      {
        file: 'lib/snapshot/sources/sources.ts',
        after: '  [dataFiles.name]: dataFiles,\n',
        lines: '  [gadgets.name]: gadgets,\n',
      },
      {
        file: 'test/snapshot/killed-command.process.test.ts',
        after: "      return dataFiles.flatMap((id) => ['--id', id]);\n",
        lines: "    case 'gadgets':\n      return ['--id', 'a'];\n",
      },
    ],
  },
  'job-type': {
    heading: 'Walk 3: add a job type',
    insertions: [
      {
        file: 'lib/jobs/types/job-types.ts',
        after: "import { dataFiles } from './data-files/definition.ts';\n",
        lines: "import { note } from './note/definition.ts';\n",
      },
      { file: 'lib/jobs/types/job-types.ts', after: '  snapshot,\n', lines: '  note,\n' },
      {
        file: 'test/jobs/worker-over.ts',
        after: "      snapshot: () => Promise.reject(new Error('no snapshots here')),\n",
        lines: "      note: () => Promise.reject(new Error('no notes here')),\n",
      },
      {
        file: 'test/proofs/fuzz/targets/messages.ts',
        after: '    strict: fc.constantFrom(undefined, undefined, undefined, 1),\n  },\n',
        lines: '  note: { text },\n',
      },
    ],
  },
  alarm: {
    heading: 'Walk 4: add an alarm',
    insertions: [
      {
        file: 'lib/base/aws/metric-names.ts',
        after: "  'FunctionThrottles',\n",
        lines: "  'GadgetsLost',\n",
      },
      {
        file: 'infra/conditions.ts',
        after: "    ...problem('Forbidden', workers),\n  },\n",
        lines: `  GadgetsLost: {
    severity: 'ticket',
    says: 'Gadgets are lost.',
    ...problem('GadgetsLost', workers),
  },
`,
      },
      {
        file: 'infra/RUNBOOK.md',
        after: 'for any tool that reads them.\n\n',
        lines: `## GadgetsLost

**Alarm.** \`STACK-AlarmsTicket…\`, \`problem\` \`GadgetsLost\`.

`,
      },
    ],
  },
  command: {
    heading: 'Walk 5: add a command',
    insertions: [
      {
        file: 'lib/cli/families/operation.ts',
        after: 'export const operation = {\n',
        lines: `  greet: {
    description: 'Greet a person.',
    arguments: [['<name>', 'the person']],
    needsStore: false,
    examples: ['greet Ada'],
    load: () => import('../commands/greet.ts'),
  },
`,
      },
    ],
  },
} as const satisfies Readonly<Record<string, Walk>>;
