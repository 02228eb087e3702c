/** A frame is ended at this size if no key has ended it, so that memory holds a few of any size. */
export const MOST_FRAME_BYTES = 4_000_000;

/**
 * The largest record that is stored, as a line: more than the largest response by default. No line of a part can be
 * larger, so whoever reads one holds no more, whatever its bytes unpack to.
 */
export const MOST_LINE_BYTES = 128 * 1024 * 1024;
