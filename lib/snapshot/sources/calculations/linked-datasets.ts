import * as z from 'zod/mini';

const linksSchema = z.array(z.unknown());

const linkSchema = z.object({ resource: z.object({ type: z.string(), id: z.string() }) });

/** The ids of the datasets among the `links` of a calculation; none if it has no links. */
export function linkedDatasets(links: unknown): readonly string[] {
  const { data } = linksSchema.safeParse(links);
  // One by one: a link of an unexpected shape must not hide the others.
  return (data ?? []).flatMap((each) => {
    const resource = linkSchema.safeParse(each).data?.resource;
    return resource?.type.toUpperCase() === 'DATA_SOURCE' ? [resource.id] : [];
  });
}
