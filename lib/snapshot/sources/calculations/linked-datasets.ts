import * as z from 'zod/mini';

const linksSchema = z.object({ links: z.array(z.unknown()) });

const linkSchema = z.object({ resource: z.object({ type: z.string(), id: z.string() }) });

/** The ids of the datasets that a calculation links to; none if the record has no links. */
export function linkedDatasets(calculation: unknown): readonly string[] {
  const { data } = linksSchema.safeParse(calculation);
  // One by one: a link of an unexpected shape must not hide the others.
  return (data?.links ?? []).flatMap((each) => {
    const resource = linkSchema.safeParse(each).data?.resource;
    return resource?.type.toUpperCase() === 'DATA_SOURCE' ? [resource.id] : [];
  });
}
