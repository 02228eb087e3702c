import { growing } from '../../bytes/growing.ts';
import type { Edge } from './edges.ts';
import { type Relation, relations } from './graph.ts';
import { createNumberedThings } from './numbered-things.ts';

/** An edge between things by their numbers. */
export type NumberedEdge = {
  readonly user: number;
  readonly used: number;
  readonly relation: Relation;
  readonly valid: string | undefined;
};

const RELATION_BITS = 0b111;
const VALID_SHIFT = 3;

/** Edges between numbered things, in typed arrays: 9 to 18 bytes an edge. */
export type EdgeTable = ReturnType<typeof createEdgeTable>;

/** An empty table. */
export function createEdgeTable() {
  const things = createNumberedThings();
  const [user, used] = [growing(Uint32Array), growing(Uint32Array)];
  // Both in one number: the relation in the lower bits.
  const said = growing(Uint8Array);
  const texts = createValidTexts();

  const edgeAt = (edge: number): NumberedEdge => ({
    user: user.at(edge),
    used: used.at(edge),
    relation: relations[said.at(edge) & RELATION_BITS] ?? 'uses',
    valid: texts.at(said.at(edge) >> VALID_SHIFT),
  });

  return {
    things,
    add(edge: Edge): void {
      user.push(things.numberOf(edge.user));
      used.push(things.numberOf(edge.used));
      said.push(relations.indexOf(edge.relation) | (texts.numberOf(edge.valid) << VALID_SHIFT));
    },
    edgeAt,
    /** From each thing to those that use it. */
    edges: () => ({ nodes: things.count(), from: used.values(), to: user.values() }),
    /** How many edges of other things' records name a thing, and how many of them are not valid. */
    namings(number: number): { readonly links: number; readonly broken: number } {
      let [links, broken] = [0, 0];
      for (let edge = 0; edge < user.length(); edge += 1) {
        if (user.at(edge) !== number && used.at(edge) !== number) continue;
        if (!isNaming(edgeAt(edge), number)) continue;
        links += 1;
        if (said.at(edge) >> VALID_SHIFT !== 0) broken += 1;
      }
      return { links, broken };
    },
  };
}

/** Whether another thing's record names the thing: a calculation's names the cards that use it. */
function isNaming({ user, used, relation }: NumberedEdge, number: number): boolean {
  if (user === used) return false;
  if (relation === 'drills from') return true;
  return number === (relation === 'uses' ? user : used);
}

/** The most different texts of links that are not valid; any others read as `OTHER`. */
const MOST_TEXTS = 31;
const OTHER = 'not VALID';

/** Numbers what links say that are not valid; 0 is a valid one. */
function createValidTexts() {
  const texts: (string | undefined)[] = [undefined];
  return {
    at: (number: number): string | undefined => texts[number],
    numberOf(text: string | undefined): number {
      const known = texts.indexOf(text);
      if (known !== -1) return known;
      return texts.length < MOST_TEXTS || text === OTHER ? texts.push(text) - 1 : this.numberOf(OTHER);
    },
  };
}
