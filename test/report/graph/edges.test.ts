import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../lib/json/json.ts';
import { calculationEdges, cardEdges, type Edge } from '../../../lib/report/graph/edges.ts';

/** An edge as a line to read. */
const asLine = ({ user, used, relation, valid }: Edge) =>
  `${user.kind} ${user.id} ${relation} ${used.kind} ${used.id}${valid === undefined ? '' : ` (${valid})`}`;

const ofCalculation = (json: string) => calculationEdges(parseJson(json)).map(asLine);
const ofCard = (json: string) => cardEdges(parseJson(json)).map(asLine);

const link = (type: string, id: string, more = '"valid":"VALID"') =>
  `{"resource":{"type":"${type}","id":${id}},${more}}`;

describe('a calculation', () => {
  test('is saved on a dataset, or used on it from a card', () => {
    const links = [
      link('DATA_SOURCE', '"d-1"', '"visible":true'),
      link('DATA_SOURCE', '"d-2"', '"visible":false'),
    ];

    expect(ofCalculation(`{"id":7,"links":[${links}]}`)).toEqual([
      'calculation 7 saved on dataset d-1',
      'calculation 7 used on dataset d-2',
    ]);
  });

  test('refers to another, which may be gone', () => {
    const links = [
      link('FUNCTION_TEMPLATE', '"8"'),
      link('FUNCTION_TEMPLATE', '"9"', '"valid":"ILLEGAL_REFERENCE"'),
    ];

    expect(ofCalculation(`{"id":7,"links":[${links}]}`)).toEqual([
      'calculation 7 refers to calculation 8',
      'calculation 7 refers to calculation 9 (ILLEGAL_REFERENCE)',
    ]);
  });

  test('is used by a card, whatever its pages, and by the card of a drill', () => {
    const links = [
      link('CARD', '"31:1"'),
      link('CARD', '"31:2"'),
      link('CARD', '"dr:32:33"'),
      link('CARD', '"34"'),
    ];

    expect(ofCalculation(`{"id":7,"links":[${links}]}`)).toEqual([
      'card 31 uses calculation 7',
      'card 32 uses calculation 7',
      'card 32 drills from card 33',
      'card 34 uses calculation 7',
    ]);
  });

  test('has what its active links add', () => {
    const active = '{"DATA_SOURCE":["d-1"],"CARD":["31:1",32],"FUNCTION_TEMPLATE":"8","PAGE":["9"]}';

    expect(
      ofCalculation(
        `{"id":7,"links":[${link('DATA_SOURCE', '"d-1"', '"visible":false,"valid":"INCOMPATIBLE_LINK"')}],"activeLinks":${active}}`,
      ),
    ).toEqual([
      'calculation 7 used on dataset d-1 (INCOMPATIBLE_LINK)',
      'card 31 uses calculation 7',
      'card 32 uses calculation 7',
      'calculation 7 refers to calculation 8',
    ]);
  });

  test('has one edge for several links to a thing, with what is wrong with one of them', () => {
    const links = [link('card', '"31:1"'), link('CARD', '"31:2"', '"valid":"ILLEGAL_REFERENCE"')];

    expect(ofCalculation(`{"id":7,"links":[${links}]}`)).toEqual([
      'card 31 uses calculation 7 (ILLEGAL_REFERENCE)',
    ]);
  });

  test('keeps the digits of ids, as numbers and as texts, and takes equal ones for one', () => {
    const large = '123456789012345678901234';
    const links = [
      link('FUNCTION_TEMPLATE', large),
      link('FUNCTION_TEMPLATE', `"${large}"`),
      link('FUNCTION_TEMPLATE', '"0008"'),
    ];

    expect(ofCalculation(`{"id":9007199254740993,"links":[${links}]}`)).toEqual([
      `calculation 9007199254740993 refers to calculation ${large}`,
      'calculation 9007199254740993 refers to calculation 8',
    ]);
  });

  test('may have links of any other shape, which hide none of the rest', () => {
    const odd = [
      'null',
      '7',
      '"text"',
      '[]',
      '{}',
      '{"resource":null}',
      '{"resource":{"type":7,"id":"8"}}',
      link('DATA_SOURCE', 'null'),
      link('DATA_SOURCE', '""'),
      link('DATA_SOURCE', '{}'),
      link('CARD', '":7"'),
      link('CARD', '"dr:"'),
      link('CARD', '1.5'),
      link('__proto__', '"8"'),
      link('PAGE', '"8"'),
    ];

    expect(ofCalculation(`{"id":7,"links":[${[...odd, link('DATA_SOURCE', '"d-1"')]}]}`)).toEqual([
      'calculation 7 saved on dataset d-1',
    ]);
    expect(ofCalculation(`{"id":7,"links":{"0":"x"},"activeLinks":["d-1"]}`)).toEqual([]);
    expect(ofCalculation('{"id":7,"links":null,"activeLinks":null}')).toEqual([]);
    expect(ofCalculation('{"id":7}')).toEqual([]);
    expect(ofCalculation('{"links":[]}')).toEqual([]);
    expect(ofCalculation('null')).toEqual([]);
  });

  test('may refer to itself', () => {
    expect(ofCalculation(`{"id":7,"links":[${link('FUNCTION_TEMPLATE', '"7"')}]}`)).toEqual([
      'calculation 7 refers to calculation 7',
    ]);
  });

  test('may have ten thousand links', () => {
    const links = Array.from({ length: 10_000 }, (_, index) => link('CARD', `"${index}:1"`));

    expect(ofCalculation(`{"id":7,"links":[${links}]}`)).toHaveLength(10_000);
  });
});

describe('a card', () => {
  test('is built on its dataset', () => {
    expect(ofCard('{"id":31,"datasourceId":"d-1"}')).toEqual(['card 31 built on dataset d-1']);
    expect(ofCard('{"_datasetId":"d-1","id":"31","datasourceId":null}')).toEqual([
      'card 31 built on dataset d-1',
    ]);
  });

  test('uses the dataset in whose list it stood, too', () => {
    expect(ofCard('{"_datasetId":"d-1","id":31,"datasourceId":"d-2"}')).toEqual([
      'card 31 built on dataset d-2',
      'card 31 built on dataset d-1',
    ]);
    expect(ofCard('{"_datasetId":"d-1","id":31,"datasourceId":"d-1"}')).toEqual([
      'card 31 built on dataset d-1',
    ]);
  });

  test('without an id or a dataset uses nothing', () => {
    expect(ofCard('{"datasourceId":"d-1"}')).toEqual([]);
    expect(ofCard('{"id":31}')).toEqual([]);
    expect(ofCard('7')).toEqual([]);
  });
});
