import fc from 'fast-check';
import { type NaiveStore, naiveId } from './naive.ts';

export const link = (type: unknown, id: unknown, more: object = { visible: true, valid: 'VALID' }) => ({
  resource: { type, id },
  ...more,
});

const ILLEGAL = { visible: true, valid: 'ILLEGAL_REFERENCE' };

/** A store with every shape that a link may have. */
export const craftedStore: NaiveStore = {
  calculations: [
    { status: 'INVALID', links: [link('DATA_SOURCE', 'nobody')] },
    { id: 1, name: 'Revenue', owner: 5, status: 'VALID', links: [link('DATA_SOURCE', 'D-1')] },
    { id: '0002', name: 'Margin', owner: '5', status: 'VALID', links: [link('FUNCTION_TEMPLATE', '001')] },
    { id: 3, name: 'Margin', owner: '05', links: [link('CARD', '31:1'), link('CARD', '31:2', ILLEGAL)] },
    { id: 4, name: '', status: 'valid', links: [link('CARD', 'dr:32:31'), link('DATA_SOURCE', 'd-1')] },
    { id: 5, status: 'INVALID', links: [link('FUNCTION_TEMPLATE', '5')] },
    { id: 6, links: [link('FUNCTION_TEMPLATE', 5), link('FUNCTION_TEMPLATE', 404)] },
    { id: 7, archived: true, activeLinks: { FUNCTION_TEMPLATE: ['6', 6], DATA_SOURCE: ['only-active'] } },
    { id: 8, functionTemplateDependencies: ['7', 9007199254740993n, null, {}] },
    {
      id: 9007199254740993n,
      links: [link('DATA_SOURCE', 'D-2', { visible: false, valid: 'INCOMPATIBLE_LINK' })],
    },
    { id: 10, links: [link('data_source', 'd-2', {}), link('DATA_SOURCE', 'D-2', { valid: 'valid' })] },
    { id: 11, links: [link('DATA_SOURCE', 'a'), link('FUNCTION_TEMPLATE', '1')] },
    { id: 12, links: [link('FUNCTION_TEMPLATE', '1'), link('DATA_SOURCE', 'A'), link('DATA_SOURCE', 'a')] },
    {
      id: 13,
      links: [link('PAGE', '8', ILLEGAL), link('page', '008')],
      locked: true,
      owner: 6,
      lastModified: 7,
    },
    { id: 14, links: [link('FUNCTION_TEMPLATE', '15')] },
    { id: 15, links: [link('FUNCTION_TEMPLATE', '14'), link('DATA_SOURCE', 'x', ILLEGAL)], owner: 6 },
    { id: 16, links: [null, 7, 'text', [], {}, { resource: null }, link(7, '8'), link('DATA_SOURCE', null)] },
    { id: 17, links: [link('CARD', ':7'), link('CARD', 'dr:'), link('CARD', 1.5), link('__proto__', '8')] },
    { id: 18, links: { 0: 'x' }, activeLinks: ['d-1'] },
    { id: 19, links: null, activeLinks: null, functionTemplateDependencies: 'none' },
    { id: 20, activeLinks: { CARD: ['31:1', 33], FUNCTION_TEMPLATE: '19', constructor: '1' } },
    { id: -3, links: [link('FUNCTION_TEMPLATE', '-003'), link('DATA_SOURCE', ' spaced ')] },
    { id: 21, links: [link('FUNCTION_TEMPLATE', '0'), link('DATA_SOURCE', 'ÄÖ-ſ')] },
    {
      id: 22,
      links: [link('DATA_SOURCE', 'A'), link('FUNCTION_TEMPLATE', '22'), link('FUNCTION_TEMPLATE', '1')],
    },
    { id: 23, links: [link('FUNCTION_TEMPLATE', '23'), link('FUNCTION_TEMPLATE', '1')] },
    { id: 24, links: [link('FUNCTION_TEMPLATE', '24'), link('FUNCTION_TEMPLATE', '1')] },
    { id: 25, links: [link('FUNCTION_TEMPLATE', '404'), link('FUNCTION_TEMPLATE', '5')] },
    null,
  ],
  cards: [
    {
      id: 30,
      datasourceId: 'D-1',
      title: 'Sales',
      ownerId: '5',
      owners: [{ id: '5', type: 'USER', displayName: 'Ada' }],
    },
    { id: '031', datasourceId: 'd-2', ownerId: 6, owners: [{ id: '9', type: 'GROUP', displayName: 'All' }] },
    {
      id: 32,
      _datasetId: 'd-1',
      datasourceId: 'd-3',
      urn: 'dr:32:31',
      owners: [{ id: 7, displayName: 'Bo' }, {}],
    },
    {
      id: 32,
      _datasetId: 'd-4',
      datasourceId: 'd-3',
      urn: 'dr:32:31',
      owners: [{ id: 7, displayName: 'Bo' }],
    },
    { id: 34, urn: 'DR:34:404' },
    { _datasetId: 'd-1', id: 36, urn: 'dr:36:30', title: 'By rep', datasetId: 'd-5' },
    { _datasetId: 'd-1', id: 37, datasourceId: 'd-2', datasetId: 'd-5' },
    { id: 35, datasourceId: null, urn: 35, owners: 'none' },
    { datasourceId: 'd-9' },
    7,
  ],
  files: [{ id: 'f-1', createdBy: 5 }, { id: 'f-2', createdBy: 99 }, { id: 'f-3' }],
  dataFiles: [{ dataFileId: 1, responsibleUserId: '0005' }],
};

const id = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 12 }) },
  fc.integer({ min: 1, max: 12 }).map(String),
  fc.integer({ min: 1, max: 12 }).map((n) => `00${n}`),
  fc.constantFrom<unknown>('a', 'A', 'd-1', '', null, 1.5, {}, 2n ** 60n, `${2n ** 60n}`, '-1'),
);

/** Owners' ids. 1.5 is left out: it is text in a column, and no id in a link. */
const ownerId = id.filter((value) => value !== 1.5);

const cardId = fc.oneof(
  id,
  fc.tuple(id, id).map(([card, page]) => `${String(card)}:${String(page)}`),
  fc.tuple(id, id).map(([card, root]) => `dr:${String(card)}:${String(root)}`),
);

const type = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('DATA_SOURCE', 'FUNCTION_TEMPLATE', 'CARD', 'card') },
  fc.constantFrom<unknown>('PAGE', '', 7, null),
);

const anyLink = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        resource: fc.record({ type, id: cardId }, { requiredKeys: [] }),
        visible: fc.boolean(),
        valid: fc.constantFrom<unknown>(
          'VALID',
          'VALID',
          'VALID',
          'valid',
          'ILLEGAL_REFERENCE',
          'BAD',
          '',
          null,
        ),
      },
      { requiredKeys: ['resource'] },
    ),
  },
  fc.constantFrom<unknown>(null, 7, 'text', []),
);

const few = <T>(of: fc.Arbitrary<T>) => fc.array(of, { maxLength: 4 });

const calculation = fc.record(
  {
    name: fc.constantFrom<unknown>('a', 'b', 'B', '', 'ü'),
    owner: ownerId,
    status: fc.constantFrom<unknown>('VALID', 'VALID', 'VALID', 'valid', 'INVALID'),
    locked: fc.boolean(),
    lastModified: fc.integer({ min: 0, max: 9 }),
    links: few(anyLink),
    activeLinks: fc.dictionary(
      fc.constantFrom('CARD', 'DATA_SOURCE', 'FUNCTION_TEMPLATE', 'PAGE'),
      few(cardId),
      { maxKeys: 2 },
    ),
    functionTemplateDependencies: few(id),
  },
  { requiredKeys: [] },
);

const card = fc.record(
  {
    datasourceId: id,
    _datasetId: id,
    urn: cardId,
    ownerId,
    owners: few(
      fc.record(
        {
          id: ownerId,
          type: fc.constantFrom('USER', 'GROUP'),
          displayName: fc.constantFrom('Ada', 'Bo', ''),
        },
        { requiredKeys: ['id'] },
      ),
    ),
  },
  { requiredKeys: [] },
);

/** Records with ids from 1 on, since a snapshot has each id once. */
const numbered = (records: fc.Arbitrary<object>, maxLength: number) =>
  fc.array(records, { maxLength }).map((all) => all.map((record, at) => ({ id: at + 1, ...record })));

/** Small stores whose records refer to one another and to things that do not exist, in links of all shapes. */
export const anyStore: fc.Arbitrary<NaiveStore> = fc.record({
  calculations: numbered(calculation, 9),
  cards: fc.option(numbered(card, 6), { nil: undefined }),
  files: few(fc.record({ id: fc.constant('f'), createdBy: ownerId }, { requiredKeys: ['id'] })),
  dataFiles: few(
    fc.record({ dataFileId: fc.constant(1), responsibleUserId: ownerId }, { requiredKeys: ['dataFileId'] }),
  ),
  narrowed: fc.subarray<'calculations' | 'cards'>(['calculations', 'cards']),
});

/** Without the records that no scan would publish: those without an id of digits, and cards without a dataset. */
export function publishable(given: NaiveStore): NaiveStore {
  const known = (record: unknown) => (record ?? {}) as Readonly<Record<string, unknown>>;
  const hasId = (record: unknown) => /^-?\d+$/.test(naiveId(known(record)['id']) ?? '');
  const isOnDataset = (record: unknown) =>
    typeof (known(record)['_datasetId'] ?? known(record)['datasourceId']) === 'string';
  return {
    ...given,
    calculations: given.calculations?.filter(hasId),
    cards: given.cards?.filter((record) => hasId(record) && isOnDataset(record)),
  };
}

/** The line of a record in a part. Bigints become JSON numbers. */
export const lineOf = (record: unknown): string =>
  JSON.stringify(record, (_, value: unknown) =>
    typeof value === 'bigint' ? `#${value}#` : value,
  ).replaceAll(/"#(-?\d+)#"/g, '$1');
