import type { IToken } from 'chevrotain';
import { unquoteColumn, unquoteText } from './quotes.ts';
import type { Column, Fixed, NumberLiteral, Operator, Text } from './syntax.ts';

/*
 * What single tokens mean.
 */

export function columnOf({ image, startOffset }: IToken): Column {
  return { kind: 'column', name: unquoteColumn(image), offset: startOffset };
}

export function numberOf({ image, startOffset }: IToken): NumberLiteral {
  return { kind: 'number', source: image, offset: startOffset };
}

export function textOf({ image, startOffset }: IToken): Text {
  return { kind: 'text', value: unquoteText(image), offset: startOffset };
}

const synonyms: ReadonlyMap<string, Operator> = new Map([
  ['||', 'OR'],
  ['&&', 'AND'],
  ['!=', '<>'],
]);

/** The operator that a token spells. The cast is safe: the lexer produces no others. */
export function operatorOf({ image }: IToken): Operator {
  return synonyms.get(image) ?? (image.toUpperCase() as Operator);
}

/** BY, ADD or REMOVE. The cast is safe here, too. */
export function grainOf({ image }: IToken): Fixed['grain'] {
  return image.toUpperCase() as Fixed['grain'];
}
