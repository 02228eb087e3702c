type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** An array with room for `index`, with the same values: the given one if it has room. */
export function grown<A extends Numbers>(array: A, index: number): A {
  if (index < array.length) return array;
  const wider = new (array.constructor as new (length: number) => A)(
    Math.max(64, 2 * array.length, index + 1),
  );
  wider.set(array);
  return wider;
}
