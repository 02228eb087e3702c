import * as z from 'zod/mini';
import { anyRecord, recordOf } from '../base/index.ts';
import { idSchema } from './id.ts';

/*
 * The platform's records, as in section 2 of its contract. Every object is loose and every enum is text: unknown fields
 * and values are preserved. Only what the contract promises for every record is required; null is allowed for any value
 * because the platform sends it in practice.
 */

type NamedKeys<T> = keyof { [Key in keyof T as string extends Key ? never : Key]: true };

/** Makes a misspelt field not compile; those that the contract does not name are there all the same. */
type Named<T> = T extends readonly (infer Item)[]
  ? Named<Item>[]
  : T extends object
    ? [NamedKeys<T>] extends [never]
      ? T
      : { [Key in keyof T as string extends Key ? never : Key]: Named<T[Key]> }
    : T;

const text = z.nullish(z.string());
const flag = z.nullish(z.boolean());
const count = z.nullish(z.number());

/** Epoch milliseconds in some places, ISO text in others: left as received. */
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

export const calculationRowSchema = z.looseObject({
  ...calculationRow,
  activeLinks: z.nullable(anyRecord()),
});
/** A calculation as the search returns it: without its expression. */
export type CalculationRow = Named<z.infer<typeof calculationRowSchema>>;

export const calculationSchema = z.looseObject({
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
/** A complete calculation: a named formula over the columns of a dataset. */
export type Calculation = Named<z.infer<typeof calculationSchema>>;

export const fileSchema = z.looseObject({
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
/** A file or directory of a FileSet. `size` in bytes, null for a directory. */
export type FileRecord = Named<z.infer<typeof fileSchema>>;

export const cardSchema = z.looseObject({
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
/** A visualization over a dataset. */
export type Card = Named<z.infer<typeof cardSchema>>;

const logs = z.nullish(z.looseObject({ log: z.nullish(z.array(z.unknown())) }));

export const executionSchema = z.looseObject({
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
/** One run of a code function. HTTP 200 says nothing about its success: look at `status`. */
export type FunctionExecution = Named<z.infer<typeof executionSchema>>;

export const sentimentSchema = z.looseObject({
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
/** The sentiment of a text, by topic (`topicSentiments`) or overall (`sentiment`). */
export type Sentiment = Named<z.infer<typeof sentimentSchema>>;

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

export const dataFileSchema = z.looseObject({
  dataFileId: idSchema,
  name: z.string(),
  responsibleUserId: nullableId,
  currentRevision: z.nullish(revisionSchema),
  datetimeCreated: time,
  revisions: z.nullish(z.array(revisionSchema)),
  existing: flag,
});
/** The metadata of a data file; revisions only if `expand` requests them. */
export type DataFile = Named<z.infer<typeof dataFileSchema>>;
