import type { Call } from '../../platform/call.ts';
import type { FileSearch } from '../../platform/operations/search-files.ts';
import type { Store } from '../../store/store.ts';
import { type Place, sourceOf } from '../keys.ts';
import type { Scan } from '../scan.ts';
import { type Selections, selectionSchemas } from '../selection.ts';
import { calculationScan } from '../sources/calculations/scan.ts';
import { cardsScan } from '../sources/cards/scan.ts';
import { dataFilesScan } from '../sources/data-files/scan.ts';
import { filesScan } from '../sources/files/scan.ts';
import type { Checkpoint } from './checkpoint.ts';
import { readStoredIds } from './stored-ids.ts';

export type ScanParts = {
  readonly call: Call;
  readonly store: Store;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Rows a page of calculations asks for. Default 5000, the most the platform allows. */
  readonly pageRows?: number;
};

/** The scan of a run, by what its checkpoint tells: the same for a run that begins and for one that is gone on with. */
export async function scanOfRun(
  { source, run, selection }: Checkpoint,
  parts: ScanParts,
): Promise<Scan<unknown>> {
  const { call, store, sleep, pageRows: limit = 5000 } = parts;
  const place = source as Place;
  switch (sourceOf(place)) {
    case 'calculations': {
      const { name, filters } = selectionSchemas.calculations.parse(selection);
      const search = {
        ...(name === undefined ? {} : { name }),
        filters: (filters ?? []).map((field) => ({ field })),
      };
      return calculationScan({ call, selection: search, limit, sleep }) as Scan<unknown>;
    }
    case 'files': {
      const files = selectionSchemas.files.parse(selection);
      return filesScan({ call, filesetIds: files.filesets, search: fileSearch(files) }) as Scan<unknown>;
    }
    case 'cards': {
      const { drill } = selectionSchemas.cards.parse(selection);
      return cardsScan({ call, datasetIds: await readStoredIds(store, place, run), drill }) as Scan<unknown>;
    }
    case 'data-files': {
      const { expand } = selectionSchemas['data-files'].parse(selection);
      return dataFilesScan({ call, ids: await readStoredIds(store, place, run), expand }) as Scan<unknown>;
    }
    default:
      throw new Error(`${source}: expected a source of snapshots`);
  }
}

function fileSearch({ directory, immediate, where, since, until }: Selections['files']): FileSearch {
  const dates = {
    ...(since === undefined ? {} : { start: since }),
    ...(until === undefined ? {} : { end: until }),
  };
  return {
    ...(directory === undefined ? {} : { directoryPath: directory }),
    ...(immediate === undefined ? {} : { immediateChildren: immediate }),
    ...(where === undefined ? {} : { filters: where }),
    ...(Object.keys(dates).length === 0 ? {} : { dateFilters: [{ field: 'created', ...dates }] }),
  };
}
