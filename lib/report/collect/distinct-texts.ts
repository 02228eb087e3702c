/** Texts that columns name by their positions, each once. */
export type DistinctTexts = {
  readonly texts: readonly string[];
  readonly positionOf: (text: string) => number;
};

export function createDistinctTexts(): DistinctTexts {
  const positions = new Map<string, number>();
  const texts: string[] = [];
  return {
    texts,
    positionOf(text) {
      const known = positions.get(text);
      if (known !== undefined) return known;
      positions.set(text, texts.length);
      return texts.push(text) - 1;
    },
  };
}
