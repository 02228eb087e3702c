/** A process of the world. One that is not mortal never crashes or pauses, and only the queue fails it. */
export type Process = {
  readonly name: string;
  readonly isMortal: boolean;
  isAlive: boolean;
  /** Until then it makes no progress, and no response reaches it. */
  pausedUntilMs: number;
  /** How many things have gone wrong with it so far. */
  troubles: number;
  /** Called when it has ended, normally or not. */
  readonly onEnd: (() => void)[];
};

export const newProcess = (name: string, isMortal = true): Process => ({
  name,
  isMortal,
  isAlive: true,
  pausedUntilMs: 0,
  troubles: 0,
  onEnd: [],
});
