import type { Call, CallOptions } from './call.ts';
import { openCalls, type PlatformOptions } from './open-calls.ts';
import { analyzeSentiment, type SentimentRequest } from './operations/analyze-sentiment.ts';
import { getDataFile } from './operations/get-data-file.ts';
import { listCards } from './operations/list-cards.ts';
import { type FunctionCall, runFunction } from './operations/run-function.ts';
import { type CalculationSearch, searchCalculations } from './operations/search-calculations.ts';
import type { FileSearch } from './operations/search-files.ts';
import { updateFormula } from './operations/update-formula.ts';
import { calculationPages, filePages, type PagesOptions, pageOf } from './pages.ts';

type Id = string | number | bigint;

/** Makes a client. Opens no connection until the first call. */
export const createPlatform = (options: PlatformOptions): Platform => operations(openCalls(options)());

/** The platform's seven operations. Every method throws `PlatformError`, or passes the caller's abort through. */
export type Platform = ReturnType<typeof operations>;

/** The operations over any `call`: the real one, or a fake in a test. */
export const operations = (call: Call) => ({
  /** The one call that all of these go through: any endpoint, validated or as received. */
  call,
  calculations: {
    /** One page of at most 5,000 rows. */
    search: (search: CalculationSearch, options?: CallOptions) =>
      call(searchCalculations, { body: { ...search } }, options).then(pageOf),
    /** Every page in turn, by offset. */
    pages: (search: CalculationSearch, options?: PagesOptions) => calculationPages(call, search, options),
    /** Never sent twice. `strict` refuses a formula that does not parse instead of storing it as INVALID. */
    updateFormula: (
      calculationId: Id,
      expression: string,
      { strict, ...options }: CallOptions & { readonly strict?: boolean } = {},
    ) => call(updateFormula, { path: { calculationId }, query: { strict }, body: { expression } }, options),
  },
  files: {
    /** Every page of a FileSet in turn, by cursor. */
    pages: (filesetId: string, search?: FileSearch, options?: PagesOptions) =>
      filePages(call, filesetId, search, options),
  },
  cards: {
    /** `drill` adds cards that use the dataset only in a drill path; true by default, as on the platform. */
    ofDataset: (datasetId: string, { drill, ...options }: CallOptions & { readonly drill?: boolean } = {}) =>
      call(listCards, { path: { datasetId }, query: { drill } }, options),
  },
  functions: {
    /** Never sent twice. A failed execution is returned like any other: look at its `status`. */
    run: ({ packageId, version, functionName, ...body }: FunctionCall, options?: CallOptions) =>
      call(runFunction, { path: { packageId, version, functionName }, body }, options),
  },
  sentiment: {
    /** The sentiment of one text, overall or by topic. Each call costs credits. */
    analyze: ({ text, ...rest }: SentimentRequest, options?: CallOptions) => {
      const kind = (rest.topics ?? []).length > 0 ? { targetedSentiment: true } : { simpleSentiment: true };
      return call(analyzeSentiment, { body: { input: [{ type: 'TEXT', text }], ...rest, ...kind } }, options);
    },
  },
  dataFiles: {
    /** `expand`: any of `revisions` and `metadata`. */
    get: (
      dataFileId: Id,
      { expand, ...options }: CallOptions & { readonly expand?: readonly string[] } = {},
    ) => call(getDataFile, { path: { dataFileId }, query: { expand: expand?.join(',') } }, options),
  },
});
