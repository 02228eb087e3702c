import type * as z from 'zod/mini';
import type { Endpoint } from '../../lib/platform/endpoint.ts';
import { type EndpointName, endpoints } from '../../lib/platform/endpoints.ts';
import {
  calculationRowSchema,
  calculationSchema,
  cardSchema,
  dataFileSchema,
  executionSchema,
  fileSchema,
  sentimentSchema,
} from '../../lib/platform/records.ts';
import { docOf, memberOf } from './docstrings.ts';
import { type Field, fieldsOf } from './fields.ts';

/** Of each operation: its file, the methods of the client that send it, and the object that it returns. */
const operations = {
  searchCalculations: {
    file: 'search-calculations',
    methods: ['calculations.search', 'calculations.pages'],
    takes: 'CalculationSearch',
    returns: 'CalculationRow',
  },
  updateFormula: { file: 'update-formula', methods: ['calculations.updateFormula'], returns: 'Calculation' },
  searchFiles: { file: 'search-files', methods: ['files.pages'], takes: 'FileSearch', returns: 'FileRecord' },
  listCards: { file: 'list-cards', methods: ['cards.ofDataset'], returns: 'Card' },
  runFunction: { file: 'run-function', methods: ['functions.run'], returns: 'FunctionExecution' },
  analyzeSentiment: {
    file: 'analyze-sentiment',
    methods: ['sentiment.analyze'],
    takes: 'SentimentRequest',
    returns: 'Sentiment',
  },
  getDataFile: { file: 'get-data-file', methods: ['dataFiles.get'], returns: 'DataFile' },
} as const satisfies Readonly<
  Record<
    EndpointName,
    {
      readonly file: string;
      readonly methods: readonly string[];
      /** The type of its request, if that has a docstring. */
      readonly takes?: string;
      readonly returns: keyof typeof objects;
    }
  >
>;

const objects = {
  CalculationRow: calculationRowSchema,
  Calculation: calculationSchema,
  FileRecord: fileSchema,
  Card: cardSchema,
  FunctionExecution: executionSchema,
  Sentiment: sentimentSchema,
  DataFile: dataFileSchema,
} as const;

/** The page docs/reference.md, made of docstrings and schemas. */
export function referencePage(): string {
  const names = Object.keys(operations) as readonly EndpointName[];
  return [
    '# The seven operations',
    INTRODUCTION,
    ...names.map(operationText),
    '# Objects',
    'What the operations return. Unknown fields pass through as they were received; an id has digits of any length.',
    ...Object.entries(objects).map(([name, schema]) => objectText(name, schema)),
    '',
  ].join('\n\n');
}

const INTRODUCTION = [
  'What the client of `platform-sync/platform` ([install](install.md#the-client-platform-syncplatform)) sends, and what it returns. `npm run reference` makes this page of the docstrings and schemas in `lib/platform`, and a test compares them.',
  'Each method takes a `signal`, waits for its turn ([pace](pace.md)), and throws `PlatformError`, which says whether the request had left.',
].join('\n\n');

function operationText(name: EndpointName): string {
  const { summary, method, path, input, mayRepeat }: Endpoint<never, unknown> = endpoints[name] as never;
  const { file, methods, returns, ...request } = operations[name];
  const source = `lib/platform/operations/${file}.ts`;
  return [
    `## ${summary}`,
    docOf(source, name),
    `\`${method} ${path}\``,
    ...methods.map(methodText),
    ...('takes' in request ? [`\`${request.takes}\`: ${docOf(source, request.takes)}`] : []),
    [
      `- Returns [${returns}](#${returns.toLowerCase()}).`,
      `- ${mayRepeat ? 'Repeated after a 429, a 5xx, a time-out or a broken connection.' : 'Repeated only after a 429 or a proof that nothing was executed.'}`,
    ].join('\n'),
    tableOf(fieldsOf(input as z.ZodMiniType).filter(({ name: field }) => field.includes('.'))),
  ].join('\n\n');
}

function methodText(path: string): string {
  const { doc, signature } = memberOf('lib/platform/client.ts', 'Platform', path);
  const [group] = path.split('.');
  return `\`platform.${group}.${signature}\`${doc === '' ? '' : `: ${doc}`}`;
}

const objectText = (name: string, schema: z.ZodMiniType): string =>
  [`## ${name}`, docOf('lib/platform/records.ts', name), tableOf(fieldsOf(schema))].join('\n\n');

function tableOf(fields: readonly Field[]): string {
  const rows = fields.map(
    ({ name, type, isRequired }) => `| \`${name}\` | ${type} | ${isRequired ? 'always' : 'may be absent'} |`,
  );
  return ['| field | is | |', '|---|---|---|', ...rows].join('\n');
}
