import { expect, test } from 'vitest';
import { linkTo } from '../../lib/report/facts.ts';

const links = { card: 'https://acme.example.com/cards/{id}?of={id}#{id}' };

test.each([
  ['17', '17'],
  ['a/b?c#d', 'a%2Fb%3Fc%23d'],
  ['$& \'"', "%24%26%20'%22"],
  ['\ud800', '%EF%BF%BD'],
])('the id %s is encoded wherever the address of a link contains it', (id, encoded) => {
  expect(linkTo(links, 'card', id)).toBe(
    `https://acme.example.com/cards/${encoded}?of=${encoded}#${encoded}`,
  );
});

test.each(['dataset', 'toString'])('a %s has no link, because its kind has no address', (kind) => {
  expect(linkTo(links, kind, '17')).toBeUndefined();
});
