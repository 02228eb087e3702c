import type { Part } from '../manifest.ts';

/** A place between two frames of a run's parts under `work/`: indexes of the part and of its frame. */
export type FramePosition = { readonly part: number; readonly frame: number };

/** A published part that is to be stored, and where the next one begins. */
export type ComposedPart = {
  readonly part: Part;
  readonly next: FramePosition;
  /** Stores it under its key, once. The next one may be composed meanwhile. */
  readonly store: () => Promise<void>;
};
