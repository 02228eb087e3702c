import { z } from 'zod';

const s3Engine = z.object({
  endpoint: z.string(),
  accessKeyId: z.string(),
  secretAccessKey: z.string(),
  /** Whether the tests' buckets keep every version. */
  versioned: z.boolean(),
});

/** A program that reads its standard input or files, and its first arguments. */
const program = z.object({ command: z.tuple([z.string()], z.string()) });

const enginesSchema = z.strictObject({
  dynamoDb: z.object({ endpoint: z.string() }).optional(),
  s3: s3Engine.optional(),
  sqs: z.object({ endpoint: z.string() }).optional(),
  /** Secrets Manager, EventBridge with queues as targets, and Glue. */
  services: z.object({ endpoint: z.string() }).optional(),
  mc: z.object({ command: z.string() }).optional(),
  eventRuler: program.optional(),
  cronValidator: program.optional(),
  cfnLint: program.optional(),
});

/** The engines that take the place of the local AWS in a run of `npm run conformance`, by what they stand for. */
export type Engines = z.infer<typeof enginesSchema>;

/** The environment variable by which the runner hands them to the tests, as JSON. */
export const ENGINES_VARIABLE = 'CONFORMANCE_ENGINES';

/** The engines of this run; none in `npm test`. Throws if the variable holds something else. */
export const enginesOf = (environment: Readonly<Record<string, string | undefined>>): Engines =>
  enginesSchema.parse(JSON.parse(environment[ENGINES_VARIABLE] ?? '{}'));
