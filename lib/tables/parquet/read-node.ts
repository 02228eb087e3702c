import { readArray } from './array-node.ts';
import type { FittedNode } from './fitted-node.ts';
import { readMap } from './map-node.ts';
import type { Reading } from './reading.ts';
import { readBoolean, readInteger, readKnown } from './scalar-nodes.ts';
import { readStruct } from './struct-node.ts';
import { readJson, readText } from './text-node.ts';

/** Reads a value as its node says: see `ReadNode`. */
export function readNode(node: FittedNode, reading: Reading, at: number, repetition: number): number {
  switch (node.kind) {
    case 'text':
      return readText(node, reading, at, repetition);
    case 'boolean':
      return readBoolean(node, reading, at, repetition);
    case 'struct':
      return readStruct(node, reading, at, repetition, readNode);
    case 'array':
      return readArray(node, reading, at, repetition, readNode);
    case 'map':
      return readMap(node, reading, at, repetition, readNode);
    case 'integer':
      return readInteger(node, reading, at, repetition);
    case 'json':
      return readJson(node, reading, at, repetition);
    case 'known':
      return readKnown(node.parts, reading, at);
    default:
      return node satisfies never;
  }
}
