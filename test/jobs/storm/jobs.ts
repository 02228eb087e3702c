import { codePackages } from '../../../lib/sandbox/platform/functions/packages.ts';
import type { Sandbox } from '../../../lib/sandbox/platform/start-platform.ts';

/** A job of the storm. A job without an id takes the id of its message. */
export type StormJob = {
  readonly body: { readonly type: string; readonly id?: string } & Readonly<Record<string, unknown>>;
  /** What the job does as the platform sees it: `first:7`, `calculation:12`, `text:…`. */
  readonly subjects: readonly string[];
  /** True if a send with an unknown outcome may be repeated. */
  readonly mayRepeat: boolean;
};

/** Jobs of all kinds: of ten, six run functions, two set a formula, one scores texts and one reads files. */
export function stormJobs(count: number, platform: Sandbox): readonly StormJob[] {
  const calculations = [...platform.calculations()].map((line) => /"id":(\d+)/.exec(line)?.[1] ?? '');
  const { dataFiles } = platform.ids();
  let formulas = 0;
  return Array.from({ length: count }, (_, index): StormJob => {
    const named = { version: 1, id: `job-${index}` };
    switch (index % 10) {
      case 5:
      case 6: {
        const { calculationId, ...body } = formulaAt(formulas, calculations);
        formulas += 1;
        return {
          body: { ...body, calculationId },
          subjects: [`calculation:${calculationId}`],
          mayRepeat: false,
        };
      }
      case 7: {
        const texts = ['a', 'b', 'c'].map((id) => ({ id, text: `I love job ${index} and ${id}` }));
        const subjects = texts.map(({ text }) => `text:${text}`);
        return { body: { ...named, type: 'score', texts }, subjects, mayRepeat: true };
      }
      case 8:
        return {
          body: { ...named, type: 'data-files', ids: dataFiles.slice(0, 3) },
          subjects: dataFiles.slice(0, 3).map((id) => `file:${id}`),
          mayRepeat: true,
        };
      default:
        return functionAt(index);
    }
  });
}

/** Of seven jobs, two have no id, and one may be repeated. */
function functionAt(index: number): StormJob {
  const kind = index % 7;
  const mayRepeat = kind === 3;
  return {
    body: {
      version: 1,
      ...(kind < 2 ? {} : { id: `job-${index}` }),
      type: 'run-function',
      packageId: codePackages[0]?.id,
      packageVersion: '1.0.0',
      functionName: 'addNumbers',
      inputVariables: { first: index, second: 1 },
      ...(mayRepeat ? { onUnknown: 'retry' } : {}),
    },
    subjects: [`first:${index}`],
    mayRepeat,
  };
}

/** Sets A, B and A again for each calculation, in jobs without ids. */
function formulaAt(index: number, calculations: readonly string[]) {
  const group = Math.floor(index / 3);
  const calculationId = calculations[group % calculations.length];
  const letter = index % 3 === 1 ? 2 : 1;
  return {
    version: 1,
    type: 'update-formula',
    calculationId,
    expression: `1 + ${letter}`,
  };
}

/** The texts of a batch. `own` of each `of` rows have a text of their own chunk; the others are in all chunks. */
export const batchTexts = (chunks: number, own: number, of: number): readonly string[] =>
  Array.from({ length: chunks }, (_, chunk) =>
    Array.from({ length: 100 }, (__, row) =>
      row % of < own
        ? `chunk ${chunk} is great, text ${row % of}`
        : `all chunks are terrible, text ${row % of}`,
    ),
  ).flat();
