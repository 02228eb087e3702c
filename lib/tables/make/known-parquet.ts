import type { Manifest, ParquetPart, Part } from '../../snapshot/manifest.ts';

/** The Parquet of the parts of runs: by its format, and the sha256 of the part. */
export type KnownParquet = Map<string, { readonly part: Part; readonly parquet: ParquetPart }>;

/** The Parquet of a run, in the order of its parts, as far as it is there. */
export type ParquetThere = {
  readonly format: string;
  readonly parts: readonly (ParquetPart | undefined)[];
};

type WithParts = Pick<Manifest, 'parts'> & { readonly parquet?: ParquetThere | undefined };

/** Adds the Parquet of a run. */
export function remember(known: KnownParquet, { parts, parquet }: WithParts): void {
  for (const [index, part] of parts.entries()) {
    const made = parquet?.parts[index];
    if (made !== undefined) known.set(`${parquet?.format} ${part.sha256}`, { part, parquet: made });
  }
}

/** A manifest that has those parts of this one of which the Parquet is known. */
export function withKnown(known: KnownParquet, manifest: Manifest, format: string): Manifest {
  const found = manifest.parts.flatMap(({ sha256 }) => known.get(`${format} ${sha256}`) ?? []);
  const parts = found.map(({ part }) => part);
  return { ...manifest, parts, parquet: { format, parts: found.map(({ parquet }) => parquet), other: 0 } };
}
