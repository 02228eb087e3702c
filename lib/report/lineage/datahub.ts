import type { Catalog, Input, LineageContext } from './catalog.ts';

/** The platform of all that is written, by whose name DataHub lists it. */
const PLATFORM = 'platform-sync';
const ACTOR = 'urn:li:corpuser:unknown';

/**
 * The metadata file of DataHub: proposals of aspects. Datasets and calculations are datasets there, cards are charts, and
 * owners are users by their ids.
 */
export const datahub: Catalog = {
  isArray: true,
  *before({ host, datasets, owners }) {
    for (const id of datasets)
      yield proposal('dataset', urnOf({ kind: 'dataset', id }, host), 'subTypes', { typeNames: ['Dataset'] });
    for (const { id, name } of owners)
      if (name !== null)
        yield proposal('corpuser', userOf(id), 'corpUserInfo', { active: true, displayName: name });
  },
  *entries({ kind, id, name, owners, inputs, columns, at }, { host }) {
    const stamp = { time: Date.parse(at), actor: ACTOR };
    const urns = inputs.map((input) => urnOf(input, host));
    const title = name || id;
    const own =
      kind === 'card'
        ? `urn:li:chart:(${PLATFORM},${encoded(`${host}/card/${id}`)})`
        : urnOf({ kind, id }, host);
    const entity = kind === 'card' ? 'chart' : 'dataset';
    const of = (aspect: string, json: object) => proposal(entity, own, aspect, json);
    if (kind === 'card') {
      const inputEdges = urns.map((destinationUrn) => ({ destinationUrn }));
      const lastModified = { created: stamp, lastModified: stamp };
      yield of('chartInfo', { title, description: '', lastModified, inputEdges });
    } else {
      yield of('datasetProperties', { name: title, customProperties: {}, tags: [] });
      yield of('subTypes', { typeNames: ['Calculation'] });
      const upstreams = urns.map((dataset) => ({ auditStamp: stamp, dataset, type: 'TRANSFORMED' }));
      const fields = columns.map(({ dataset, column }) =>
        fieldOf(urnOf({ kind: 'dataset', id: dataset }, host), column),
      );
      const fineGrained = {
        upstreamType: 'FIELD_SET',
        upstreams: fields,
        downstreamType: 'FIELD',
        downstreams: [fieldOf(own, 'value')],
        confidenceScore: 1,
      };
      const known = fields.length === 0 ? {} : { fineGrainedLineages: [fineGrained] };
      if (urns.length > 0) yield of('upstreamLineage', { upstreams, ...known });
    }
    const owned = owners.map((owner) => ({ owner: userOf(owner), type: 'BUSINESS_OWNER' }));
    if (owned.length > 0) yield of('ownership', { owners: owned, ownerTypes: {}, lastModified: stamp });
  },
};

const proposal = (entityType: string, entityUrn: string, aspectName: string, json: object) => ({
  entityType,
  entityUrn,
  changeType: 'UPSERT',
  aspectName,
  aspect: { json },
});

/** What separates the parts of a URN, percent-encoded. */
const encoded = (text: string): string => text.replaceAll(/[,()␟]/gu, (each) => ENCODED[each] ?? each);

const ENCODED: Readonly<Record<string, string>> = { ',': '%2C', '(': '%28', ')': '%29', '␟': '%E2%90%9F' };

const urnOf = ({ kind, id }: Input, host: LineageContext['host']): string =>
  `urn:li:dataset:(urn:li:dataPlatform:${PLATFORM},${encoded(`${host}/${kind}/${id}`)},PROD)`;

const fieldOf = (dataset: string, column: string): string =>
  `urn:li:schemaField:(${dataset},${encoded(column)})`;

const userOf = (id: string): string => `urn:li:corpuser:${encoded(id)}`;
