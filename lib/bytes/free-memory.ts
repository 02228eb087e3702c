/** Smaller ones are not worth it, and may lie in the pool that Node shares among them. */
const LEAST_BYTES = 256 * 1024;

/**
 * Frees the memory of a buffer that is alone in it, now: the buffer is empty from then on. The collector would do so
 * too, but it does not hurry: of pages of 5 MB it leaves many lie.
 */
export function freeMemory({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= LEAST_BYTES) buffer.transfer(0);
}
