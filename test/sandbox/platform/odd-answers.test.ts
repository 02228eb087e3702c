import { describe, expect, test } from 'vitest';
import { parseJson, printJson } from '../../../lib/base/json/json.ts';
import { call, search, smallPlatform } from './call-platform.ts';

const SEARCH = {
  path: '/api/query/v1/functions/search',
  body: { filters: [], sort: { field: 'id', ascending: true }, limit: 5000 },
};

type Rows = { readonly results: readonly Readonly<Record<string, unknown>>[] };

const rowsOf = (text: string) => (parseJson(text) as Rows).results;

describe('odd responses', () => {
  test('are the same for the same seed and request, and about three in ten records are odd', async () => {
    const [first, again] = [smallPlatform({ odd: 0.3 }), smallPlatform({ odd: 0.3 })];
    const even = (await search(smallPlatform())).results.map((row) => printJson(row));

    const { text } = await call(first, SEARCH);

    const odd = rowsOf(text).filter((row) => !even.includes(printJson(row)));
    expect((await call(again, SEARCH)).text).toBe(text);
    expect(odd.length / even.length).toBeGreaterThan(0.2);
    expect(odd.length / even.length).toBeLessThan(0.4);
  });

  test('show a record in the same odd way each time that it is read', async () => {
    const platform = smallPlatform({ odd: 1 });

    const [first, again] = [await call(platform, SEARCH), await call(platform, SEARCH)];

    expect(rowsOf(again.text)).toEqual(rowsOf(first.text));
  });

  test('keep the members that a client needs: the ids of a list in its order, as numbers or strings', async () => {
    const { results } = await search(smallPlatform());

    const rows = rowsOf((await call(smallPlatform({ odd: 1 }), SEARCH)).text);

    expect(rows.map(({ id }) => String(id))).toEqual(results.map(({ id }) => String(id)));
    expect(new Set(rows.map(({ id }) => typeof id))).toEqual(new Set(['number', 'string']));
    expect(new Set(rows.map(({ name }) => (name === null ? 'null' : typeof name))).size).toBeGreaterThan(3);
  });

  test('show an empty list as `[]`, as null or by status 204, and send JSON with other content types', async () => {
    const platform = smallPlatform({ odd: 1, cards: 0 });
    const { datasets } = platform.ids();

    const answers = await Promise.all(
      [...datasets, ...datasets].map((id) =>
        call(platform, { path: `/api/content/v1/datasources/${id}/cards` }),
      ),
    );

    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['200 []', '200 null', '204 ']),
    );
    expect(new Set(answers.map(({ headers }) => headers.get('content-type'))).size).toBe(3);
  });

  test('accept an update only by PUT, and include each shape of errors', async () => {
    const platform = smallPlatform({ odd: 1 });
    const path = `/api/query/v1/functions/template/${platform.state.calculations.at(3).id}`;
    const refused = await Promise.all(
      Array.from({ length: 40 }, () => call(platform, { path, body: { expression: '1' } })),
    );

    const { status } = await call(platform, { method: 'PUT', path, body: { expression: '1' } });

    const shapes = refused.map(({ text }) => Object.keys(Object(JSON.parse(text)))[0]);
    expect(new Set(refused.map((each) => each.status))).toEqual(new Set([405]));
    expect(new Set(shapes)).toEqual(new Set(['status', 'errorCode', 'message', '0']));
    expect(status).toBe(200);
  });
});
