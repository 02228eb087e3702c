import type { Place } from '../keys.ts';

/** The prefixes of all that a published run has outside `work/`: its folder, its Parquet, its changes. */
export const foldersOf = (folder: string, { place, run }: { readonly place: Place; readonly run: string }) =>
  [folder, `parquet/${folder}`, `changes/${place}/${dayIn(folder)}/${run}.`] as const;

/** `dt=2026-11-21` of a run's folder. */
const dayIn = (folder: string) => folder.split('/').at(-3) ?? '';
