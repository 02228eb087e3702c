import { expect, test } from 'vitest';
import { linkedDatasets } from '../../../../lib/snapshot/sources/calculations/linked-datasets.ts';

const linkTo = (type: unknown, id: unknown) => ({ resource: { type, id } });

test('the datasets are the linked resources of that type, in any case', () => {
  const links = [linkTo('DATA_SOURCE', 'a'), linkTo('CARD', 'b'), linkTo('data_source', 'c')];

  expect(linkedDatasets(links)).toEqual(['a', 'c']);
});

test('a link of an unexpected shape hides no other', () => {
  const links = [null, {}, linkTo('DATA_SOURCE', 7), linkTo(null, 'a'), linkTo('DATA_SOURCE', 'b')];

  expect(linkedDatasets(links)).toEqual(['b']);
});

test.each([[undefined], [null], [{}], ['links'], [[]]])('%j has none', (links) => {
  expect(linkedDatasets(links)).toEqual([]);
});
