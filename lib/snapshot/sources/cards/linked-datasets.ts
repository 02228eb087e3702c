import * as z from 'zod/mini';
import { parseJson } from '../../../json/json.ts';
import type { Store } from '../../../store/store.ts';
import { StoredObjectError } from '../../../store/stored-json.ts';
import { partLines } from '../../changes/part-lines.ts';
import { readLatest, readManifest } from '../../manifest.ts';

const linksSchema = z.object({ links: z.array(z.unknown()) });

const linkSchema = z.object({ resource: z.object({ type: z.string(), id: z.string() }) });

/** The datasets of a published run of calculations, and which run that was. */
export type LinkedDatasets = { readonly ids: readonly string[]; readonly run: string };

/**
 * The ids of every dataset that the last published snapshot of all calculations links to, in the order of their text.
 * Throws `StoredObjectError` if none has been published.
 */
export async function linkedDatasets(store: Store, signal?: AbortSignal): Promise<LinkedDatasets> {
  const latest = await readLatest(store, 'calculations');
  if (latest === undefined) {
    throw new StoredObjectError(
      'missing',
      `${store.location}: expected a published snapshot of calculations to take datasets from, got none`,
    );
  }
  const { parts } = await readManifest(store, latest.manifest);
  const ids = new Set<string>();
  for (const part of parts) {
    for await (const lines of partLines({ store, part, signal })) {
      for (const line of lines) for (const id of datasetsOf(line)) ids.add(id);
    }
  }
  return { ids: [...ids].sort(), run: latest.run };
}

function datasetsOf(line: string): readonly string[] {
  const { data } = linksSchema.safeParse(parseJson(line));
  // One by one: a link of another shape must not hide the others.
  return (data?.links ?? []).flatMap((each) => {
    const resource = linkSchema.safeParse(each).data?.resource;
    return resource?.type.toUpperCase() === 'DATA_SOURCE' ? [resource.id] : [];
  });
}
