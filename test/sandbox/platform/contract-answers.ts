import * as z from 'zod/mini';
import { anyRecord, recordOf } from '../../../lib/base/index.ts';
import { idSchema } from '../../../lib/platform/index.ts';
import type { EndpointName } from '../../../lib/platform/operations/index.ts';

/*
 * The exact response of each operation in the contract. The sandbox responds like this, but clients must not rely on
 * all of it.
 */

const text = z.nullish(z.string());
const flag = z.nullish(z.boolean());
const count = z.nullish(z.number());

/** A time: epoch milliseconds in some members, ISO text in others. */
const timestampSchema = z.union([z.number(), z.string()]);
const time = z.nullish(timestampSchema);
const nullableId = z.nullish(idSchema);

const linkSchema = z.looseObject({
  resource: z.looseObject({ type: z.string(), id: z.string() }),
  visible: flag,
  active: flag,
  valid: text,
});

const calculationRow = {
  id: idSchema,
  name: z.string(),
  owner: z.nullable(idSchema),
  lastModified: z.nullable(timestampSchema),
  created: z.nullable(timestampSchema),
  global: z.nullable(z.boolean()),
  locked: z.nullable(z.boolean()),
  legacyId: z.nullable(z.string()),
  status: z.nullable(z.string()),
  links: z.nullable(z.array(linkSchema)),
  archived: z.nullable(z.boolean()),
};

const calculationRowSchema = z.looseObject({
  ...calculationRow,
  activeLinks: z.nullable(anyRecord()),
});

const calculationSchema = z.looseObject({
  ...calculationRow,
  expression: z.string(),
  checkSum: z.nullable(z.string()),
  aggregated: z.nullable(z.boolean()),
  analytic: z.nullable(z.boolean()),
  nonAggregatedColumns: z.nullable(z.array(z.unknown())),
  dataType: z.nullable(z.string()),
  cacheWindow: z.nullable(z.string()),
  columnPositions: z.nullable(z.array(z.looseObject({ columnName: z.string(), columnPosition: z.number() }))),
  functions: z.nullable(z.array(z.string())),
  functionTemplateDependencies: z.nullable(z.array(z.unknown())),
  hidden: z.nullable(z.boolean()),
  variable: z.nullable(z.boolean()),
  activeLinks: z.optional(z.nullable(anyRecord())),
});

const fileSchema = z.looseObject({
  id: z.string(),
  path: z.string(),
  name: z.string(),
  fileType: text,
  contentType: text,
  size: count,
  created: time,
  createdBy: nullableId,
  hash: text,
  hashAlgorithm: text,
  downloadUrl: text,
  connectorKey: text,
  indexStatus: text,
  indexReason: text,
});

const cardSchema = z.looseObject({
  id: idSchema,
  urn: text,
  type: text,
  chartType: text,
  title: text,
  ownerId: nullableId,
  owners: z.nullish(z.array(z.looseObject({ id: z.string(), type: text, displayName: text }))),
  access: flag,
  datasourceId: text,
});

const logs = z.nullish(z.looseObject({ log: z.nullish(z.array(z.unknown())) }));

const executionSchema = z.looseObject({
  executionId: z.string(),
  packageId: text,
  version: text,
  functionName: text,
  status: z.string(),
  settings: z.nullish(z.looseObject({ getLogs: flag })),
  startedOn: time,
  startedBy: text,
  completedOn: time,
  result: z.optional(z.unknown()),
  stdout: logs,
  stderr: logs,
  errorInformation: z.nullish(
    z.looseObject({
      result: z.optional(z.unknown()),
      expectedType: text,
      actualType: text,
      expectedIsList: flag,
      actualIsList: flag,
      expectedAllowNull: flag,
      errorMessages: z.nullish(z.array(z.string())),
    }),
  ),
});

const sentimentSchema = z.looseObject({
  type: z.string(),
  topicSentiments: z.nullish(recordOf(z.string())),
  sentiment: text,
  model: text,
  isCustomerModel: flag,
  sessionId: text,
  requestId: text,
  modelProviderUsage: z.nullish(
    z.looseObject({ inputTokens: count, outputTokens: count, totalTokens: count, reasoningTokens: count }),
  ),
});

const revisionSchema = z.looseObject({
  dataFileRevisionId: idSchema,
  dataFileId: nullableId,
  contentType: text,
  uploadUserId: nullableId,
  sizeBytes: count,
  uploadTimeMillis: time,
  md5Hash: text,
  datetimeUploaded: time,
  scanState: text,
  sha256HashValue: text,
});

const dataFileSchema = z.looseObject({
  dataFileId: idSchema,
  name: z.string(),
  responsibleUserId: nullableId,
  currentRevision: z.nullish(revisionSchema),
  datetimeCreated: time,
  revisions: z.nullish(z.array(revisionSchema)),
  existing: flag,
});

const page = z.looseObject({
  next: z.nullish(z.string()),
  offset: z.nullish(z.number()),
  limit: z.nullish(z.number()),
  total: z.nullish(z.number()),
});

/** The response of each operation. */
export const contractAnswers: Readonly<Record<EndpointName, z.ZodMiniType>> = {
  updateFormula: calculationSchema,
  searchCalculations: z.looseObject({
    results: z.nullish(z.array(calculationRowSchema)),
    totalHits: z.nullish(z.number()),
    hasMore: z.nullish(z.boolean()),
    degraded: z.nullish(z.boolean()),
  }),
  searchFiles: z.looseObject({ files: z.nullish(z.array(fileSchema)), pageContext: z.nullish(page) }),
  listCards: z.array(cardSchema),
  runFunction: executionSchema,
  analyzeSentiment: sentimentSchema,
  getDataFile: dataFileSchema,
};
