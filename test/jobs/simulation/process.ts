/** A process of the world. One that is not mortal neither crashes nor pauses, and only the queue fails it. */
export type Process = {
  readonly name: string;
  readonly isMortal: boolean;
  isAlive: boolean;
  /** Until then nothing of it goes on, and no answer reaches it. */
  pausedUntilMs: number;
  /** What has gone wrong with it so far. */
  troubles: number;
  /** Called when it has ended, well or not. */
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
