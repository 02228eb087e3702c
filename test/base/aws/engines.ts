import * as z from 'zod/mini';

const s3Engine = z.object({
  endpoint: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  /** True if the tests' buckets keep every version. */
  versioned: z.boolean(),
});

/** A program that reads its standard input or files, and its first arguments. */
const program = z.object({ command: z.tuple([z.string()], z.string()) });

const enginesSchema = z.strictObject({
  dynamoDb: z.optional(z.object({ endpoint: z.string() })),
  s3: z.optional(s3Engine),
  sqs: z.optional(z.object({ endpoint: z.string() })),
  /** Secrets Manager, EventBridge with queues as targets, and Glue. */
  services: z.optional(z.object({ endpoint: z.string() })),
  /** CloudFormation with everything that it creates; `python` is for archives. */
  miniStack: z.optional(z.object({ endpoint: z.string(), python: z.string() })),
  /** SQL over the tables in the Glue of `services`. */
  trino: z.optional(z.object({ endpoint: z.string() })),
  mc: z.optional(z.object({ command: z.string() })),
  eventRuler: z.optional(program),
  cronValidator: z.optional(program),
  cfnLint: z.optional(program),
  runtimeClient: z.optional(program),
  /** Python with packages that read tables. */
  pythonReaders: z.optional(program),
  spark: z.optional(program),
  /** Python with the clients of OpenLineage and DataHub. */
  pythonCatalogs: z.optional(program),
  /** Python's own csv, and LibreOffice: they read what we write. */
  pythonCsv: z.optional(program),
  libreOffice: z.optional(program),
  /** A checker that reads histories of calls and judges whether they are linearizable. */
  porcupine: z.optional(program),
  /** Folders for `PATH`, each with a `node` of this version. */
  nodes: z.optional(z.array(z.object({ version: z.string(), path: z.string() }))),
});

/** The engines that replace the local AWS in `npm run conformance`, by purpose. */
export type Engines = z.infer<typeof enginesSchema>;

/** The environment variable in which the runner passes them to the tests, as JSON. */
export const ENGINES_VARIABLE = 'CONFORMANCE_ENGINES';

/** The engines of this run; none in `npm test`. Throws if the variable is invalid. */
export const enginesOf = (environment: Readonly<Record<string, string | undefined>>): Engines =>
  enginesSchema.parse(JSON.parse(environment[ENGINES_VARIABLE] ?? '{}'));
