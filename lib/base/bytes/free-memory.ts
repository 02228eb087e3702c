/** Smaller buffers are not worth it, and may be in the pool that Node shares among them. */
const LEAST_BYTES = 96 * 1024;

/**
 * Frees the memory of a buffer that shares it with no other, immediately: the buffer is empty afterwards. The garbage
 * collector would free it too, but late: it lets many pages of 5 MB pile up.
 */
export function freeMemory({ buffer }: Pick<Uint8Array | Float64Array, 'buffer'>): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= LEAST_BYTES) buffer.transfer(0);
}
