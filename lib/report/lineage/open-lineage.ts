import { hash } from 'node:crypto';
import type { Catalog, Step } from './catalog.ts';

/** Without a version: the same store gives the same bytes. */
const PRODUCER = 'pkg:npm/platform-sync';
const SPEC = 'https://openlineage.io/spec';

/** The versions of the facets that are written. */
const FACETS = {
  JobTypeJobFacet: '2-0-4',
  DocumentationJobFacet: '1-1-0',
  OwnershipJobFacet: '1-0-1',
  OwnershipDatasetFacet: '1-0-1',
  SchemaDatasetFacet: '1-2-0',
  ColumnLineageDatasetFacet: '1-2-0',
} as const;

/** The one field of a calculation’s output. */
const FIELD = 'value';

/**
 * Events of OpenLineage: each calculation is a job that reads datasets and calculations and writes one dataset, each card a
 * job that only reads. The id of a run is derived from its job and from the snapshot.
 */
export const openLineage: Catalog = {
  isArray: false,
  before: () => [],
  *entries(step, { host }) {
    const { kind, id, owners, inputs, at } = step;
    const namespace = `platform-sync://${host}`;
    const name = `${kind}/${id}`;
    const owned = { owners: owners.map((owner) => ({ name: `user:${owner}`, type: 'OWNER' })) };
    const type = { processingType: 'BATCH', integration: 'PLATFORM_SYNC', jobType: kind.toUpperCase() };
    const job = {
      namespace,
      name,
      facets: {
        jobType: facet('JobTypeJobFacet', type),
        ...(step.name === null
          ? {}
          : { documentation: facet('DocumentationJobFacet', { description: step.name }) }),
        ...(owners.length === 0 ? {} : { ownership: facet('OwnershipJobFacet', owned) }),
      },
    };
    const facets = {
      schema: facet('SchemaDatasetFacet', { fields: [{ name: FIELD }] }),
      ...(owners.length === 0 ? {} : { ownership: facet('OwnershipDatasetFacet', owned) }),
      ...columnLineage(step, namespace),
    };
    yield {
      eventType: 'COMPLETE',
      eventTime: at,
      run: { runId: runId([namespace, name, step.run]) },
      job,
      inputs: inputs.map((input) => ({ namespace, name: `${input.kind}/${input.id}` })),
      outputs: kind === 'calculation' ? [{ namespace, name, facets }] : [],
      producer: PRODUCER,
      schemaURL: `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`,
    };
  },
};

const facet = (name: keyof typeof FACETS, members: object) => ({
  _producer: PRODUCER,
  _schemaURL: `${SPEC}/facets/${FACETS[name]}/${name}.json#/$defs/${name}`,
  ...members,
});

function columnLineage({ columns }: Step, namespace: string) {
  if (columns.length === 0) return {};
  const inputFields = columns.map(({ dataset, column }) => {
    return { namespace, name: `dataset/${dataset}`, field: column };
  });
  return { columnLineage: facet('ColumnLineageDatasetFacet', { fields: { [FIELD]: { inputFields } } }) };
}

/** A UUID of version 8 of these texts. */
function runId(texts: readonly string[]): string {
  const digits = hash('sha256', texts.join('\n'));
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}
