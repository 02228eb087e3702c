import { printJson } from '../../../base/index.ts';
import type { endpoints } from '../../../platform/endpoints.ts';
import { getDataFile } from '../../../platform/operations/get-data-file.ts';
import { listCards } from '../../../platform/operations/list-cards.ts';
import { runFunction } from '../../../platform/operations/run-function.ts';
import { updateFormula } from '../../../platform/operations/update-formula.ts';
import { assumptions } from '../assumptions.ts';
import { updateFormula as update } from '../calculations/formulas.ts';
import { eachOf, type Form, forms } from '../http/odd-answers.ts';
import { analyzeSentimentOperation } from './analyze-sentiment.ts';
import { type Operation, ok, operation, refused } from './operation.ts';
import { searchCalculationsOperation } from './search-calculations.ts';
import { searchFilesOperation } from './search-files.ts';

/** A card is named by `id`, or else by `urn` or `kpiId`; so are the drills that it holds inside. */
const oddCard: Form = (card, random) => {
  const { id, urn, ...rest } = card as Readonly<Record<string, unknown>>;
  const named = [{ id: String(id), urn }, { urn }, { kpiId: id, urn: null }, { id, urn: 7 }];
  // The name of a drill says of which card it is one.
  return {
    ...(String(urn).startsWith('dr:') ? random.pick([{ id, urn }, { urn }]) : random.pick(named)),
    ...rest,
  };
};

/** Contract 4.4. */
const listCardsOperation = operation(
  listCards,
  ({ path, query }, { state }) => {
    const datasetIndex = state.datasets.findIndex(({ id }) => id === path.datasetId.toLowerCase());
    if (datasetIndex < 0) {
      const isArchived = state.goneDatasets.get(path.datasetId.toLowerCase()) === 410;
      return isArchived
        ? refused(410, `dataset ${path.datasetId} is archived`)
        : refused(404, `there is no dataset ${path.datasetId}`);
    }
    return ok(JSON.stringify(state.cards.listed(datasetIndex, query?.drill ?? true)));
  },
  {
    oddity: {
      list: '',
      rename: oddCard,
      decides: { id: forms.same, urn: forms.same, kpiId: forms.same, drills: eachOf(oddCard) },
    },
  },
);

/** Contract 4.7. Unknown names in `expand` are ignored. */
const getDataFileOperation = operation(
  getDataFile,
  ({ path, query }, { state }) => {
    const file = state.dataFile(path.dataFileId);
    if (file === undefined) return refused(404, `there is no data file ${path.dataFileId}`);
    const expanded = (query?.expand ?? '').split(',').map((name) => name.trim().toLowerCase());
    const { dataFileId, name, responsibleUserId, datetimeCreated, revisions, existing } = file;
    return ok(
      JSON.stringify({
        dataFileId,
        name,
        responsibleUserId,
        ...(expanded.includes(assumptions.currentRevisionExpansion)
          ? { currentRevision: revisions.at(-1) }
          : {}),
        datetimeCreated,
        ...(expanded.includes(assumptions.revisionsExpansion) ? { revisions } : {}),
        existing,
      }),
    );
  },
  { oddity: { decides: { dataFileId: forms.askedId } } },
);

/** Contract 4.1; in practice PUT is documented, too. */
const updateFormulaOperation = operation(
  updateFormula,
  ({ path, query, body }, { state, counter }) => {
    const updated = update(state.calculations, state.formulas, {
      id: path.calculationId,
      expression: body.expression,
      strict: query?.strict ?? false,
    });
    switch (updated.kind) {
      case 'not-found':
        return refused(404, `there is no calculation ${path.calculationId}`);
      case 'refused':
        return refused(400, updated.message);
      case 'updated':
        counter.updatedFormula(path.calculationId);
        return ok(updated.text);
      default:
        return updated satisfies never;
    }
  },
  { otherMethods: ['PUT'], oddity: { decides: { id: forms.askedId, status: forms.validity } } },
);

/** Contract 4.5. A function that failed still gets 200: its `status` says so. */
const runFunctionOperation = operation(
  runFunction,
  async ({ path, body }, { counter, runCodeFunction }) => {
    const inputVariables = body.inputVariables ?? {};
    const getLogs = body.settings?.getLogs;
    const run = await runCodeFunction({
      ...path,
      inputVariables,
      settings: { getLogs },
      startedBy: assumptions.tokenOwner,
    });
    switch (run.kind) {
      case 'not-found':
        return refused(404, run.message);
      case 'bad-input':
        return refused(400, run.message);
      case 'executed': {
        const { executionId, packageId, version, functionName, status } = run.execution;
        counter.executed({ executionId, packageId, version, functionName, inputVariables, status });
        return ok(printJson({ ...run.execution, errorInformation: run.execution.errorInformation ?? null }));
      }
      default:
        return run satisfies never;
    }
  },
  {
    errors: { usual: 'MessageError', forbidden: 'MessageError' },
    // The result is what was asked for.
    oddity: { decides: { status: forms.word, result: forms.same } },
  },
);

type Endpoints = typeof endpoints;

const table = {
  searchCalculations: searchCalculationsOperation,
  updateFormula: updateFormulaOperation,
  searchFiles: searchFilesOperation,
  listCards: listCardsOperation,
  runFunction: runFunctionOperation,
  analyzeSentiment: analyzeSentimentOperation,
  getDataFile: getDataFileOperation,
} as const satisfies {
  readonly [Name in keyof Endpoints]: {
    readonly endpoint: Pick<Endpoints[Name], keyof Operation['endpoint']>;
  };
};

export const operations: readonly Operation[] = Object.values(table);
