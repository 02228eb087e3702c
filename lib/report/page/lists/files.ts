import type { DataFileFacts, FileFacts } from '../../facts.ts';
import { bytes, day } from '../text/numbers.ts';
import type { Column, List } from './list.ts';

const sizes = (of: readonly (number | null)[]): Column => ({
  name: 'size',
  label: 'Size',
  text: (row) => (of[row] === null || of[row] === undefined ? '–' : bytes(of[row])),
  number: (row) => of[row] ?? null,
  isNumber: true,
});

const dates = (of: readonly (number | null)[]): Column => ({
  name: 'created',
  label: 'Created',
  text: (row) => day(of[row]),
  number: (row) => of[row] ?? null,
});

export function fileList({ filesets, list: { total, isWhole, columns } }: FileFacts): List {
  const { path, fileset, fileType, texts } = columns;
  return {
    noun: ['file', 'files'],
    length: path.length,
    total,
    isWhole,
    which: 'largest',
    columns: [
      { name: 'path', label: 'Path', text: (row) => path[row] ?? '', isHeading: true },
      {
        name: 'fileset',
        label: 'FileSet',
        text: (row) => filesets[fileset[row] ?? -1]?.id ?? '',
        isFacet: true,
      },
      { name: 'type', label: 'Type', text: (row) => texts[fileType[row] ?? -1] ?? '', isFacet: true },
      sizes(columns.size),
      dates(columns.created),
    ],
    flags: [],
    textOf: (row) => path[row] ?? '',
    sort: '-size',
    empty: 'The last snapshot holds no file.',
  };
}

export function dataFileList({ list: { total, isWhole, columns } }: DataFileFacts): List {
  const { id, name, scanState } = columns;
  return {
    noun: ['data file', 'data files'],
    length: id.length,
    total,
    isWhole,
    columns: [
      { name: 'name', label: 'Name', text: (row) => name[row] ?? '', isHeading: true },
      { name: 'id', label: 'Id', text: (row) => id[row] ?? '' },
      { name: 'scan', label: 'Scan state', text: (row) => scanState[row] ?? '', isFacet: true },
      sizes(columns.sizeBytes),
      dates(columns.created),
    ],
    flags: [],
    textOf: (row) => `${name[row]} ${id[row]}`,
    sort: 'name',
    empty: 'The last snapshot holds no data file.',
  };
}
